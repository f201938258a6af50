package e2e_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// dump is everything that the database holds, one row a line.
func dump(t testing.TB, url string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `SELECT table_name::text FROM information_schema.tables
		WHERE table_schema = 'signpost' AND table_type = 'BASE TABLE' ORDER BY 1`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Subset(t, tables, []string{"nodes", "services", "checks", "queries", "sessions", "changes", "tombstones", "state"})
	var out strings.Builder
	for _, table := range tables {
		rows, err := conn.Query(t.Context(), `SELECT row_to_json(r)::text FROM signpost.`+pgx.Identifier{table}.Sanitize()+` r ORDER BY 1`)
		require.NoError(t, err)
		content, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		for _, row := range content {
			fmt.Fprintln(&out, table, row)
		}
	}
	return out.String()
}

// answers is what the gateway says about everything, indexes included.
func answersOf(t testing.TB, g *gate) string {
	t.Helper()
	var out strings.Builder
	for _, path := range []string{"/v1/catalog/nodes", "/v1/catalog/services", "/v1/query", "/v1/catalog/node/n1", "/v1/health/node/n1"} {
		a := g.get(t, path+"?consistent")
		fmt.Fprintln(&out, path, a.index(), a.body)
	}
	return out.String()
}

// refusal is a request that must change nothing.
type refusal struct {
	name, method, path, body string
	status                   int    // 0: any 4xx
	text                     string // part of the answer
}

const kilo = 1 << 10

func name256() string { return strings.Repeat("n", 256) }

// badBodies are refused wherever a body is read. good has a %s where a name
// is, and is accepted with a good one there.
func badBodies(good string) map[string]refusal {
	named := func(name string) string { return fmt.Sprintf(good, name) }
	return map[string]refusal{
		"no body":            {body: "", status: 400},
		"half an object":     {body: strings.TrimSuffix(named("x"), "}"), status: 400, text: "Request decode failed"},
		"no JSON":            {body: `Node=x`, status: 400, text: "Request decode failed"},
		"null":               {body: `null`, status: 400},
		"a list":             {body: `[]`, status: 400},
		"a string":           {body: `"x"`, status: 400},
		"a number":           {body: `12`, status: 400},
		"an unknown field":   {body: `{"Wrong":1,` + named("x")[1:], status: 400, text: `unknown field "Wrong"`},
		"an escaped NUL":     {body: named(`x\u0000y`), status: 400, text: "NUL"},
		"a raw NUL":          {body: named("x\x00y"), status: 400, text: "NUL"},
		"invalid UTF-8":      {body: named("x\xff"), status: 400, text: "UTF-8"},
		"a cut UTF-8 letter": {body: named("x\xc3"), status: 400, text: "UTF-8"},
		"a surrogate":        {body: named("x\xed\xa0\x80"), status: 400, text: "UTF-8"},
		"a long name":        {body: named(name256()), status: 400},
		"nested lists":       {body: strings.Repeat("[", 512*kilo), status: 400},
		"nested objects":     {body: strings.Repeat(`{"a":`, 100*kilo), status: 400},
		"braces alone":       {body: strings.Repeat("{", 512*kilo), status: 400},
		"parentheses":        {body: strings.Repeat("(", 512*kilo), status: 400},
		"nested in a field":  {body: `{"Node":` + strings.Repeat(`{"a":`, 1000) + `1` + strings.Repeat(`}`, 1000) + `}`, status: 400},
		"2 MiB and a byte":   {body: named(strings.Repeat("x", 2<<20+1-len(named("")))), status: 413},
		"3 MiB of spaces":    {body: strings.Repeat(" ", 3<<20), status: 413},
	}
}

func badRegistrations() map[string]refusal {
	named := func(field string) string { return fmt.Sprintf(field, name256()) }
	return map[string]refusal{
		"no node":               {body: `{"Address":"1.1.1.1"}`},
		"no address":            {body: `{"Node":"x"}`},
		"a blank node":          {body: `{"Node":" \t","Address":"1.1.1.1"}`},
		"a blank service":       {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"  "}}`},
		"an empty service":      {body: `{"Node":"x","Address":"1.1.1.1","Service":{}}`},
		"a service ID alone":    {body: `{"Node":"x","Address":"1.1.1.1","Service":{"ID":"x"}}`},
		"a blank service ID":    {body: `{"Node":"x","Address":"1.1.1.1","Service":{"ID":" ","Service":"s"}}`},
		"a blank check":         {body: `{"Node":"x","Address":"1.1.1.1","Check":{"CheckID":" "}}`},
		"an empty check":        {body: `{"Node":"x","Address":"1.1.1.1","Check":{}}`},
		"a node of 256 bytes":   {body: named(`{"Node":%q,"Address":"1.1.1.1"}`)},
		"a service of 256":      {body: named(`{"Node":"x","Address":"1.1.1.1","Service":{"Service":%q}}`)},
		"a service ID of 256":   {body: named(`{"Node":"x","Address":"1.1.1.1","Service":{"ID":%q,"Service":"s"}}`)},
		"a check of 256":        {body: named(`{"Node":"x","Address":"1.1.1.1","Check":{"CheckID":%q}}`)},
		"a node as number":      {body: `{"Node":1,"Address":"1.1.1.1"}`},
		"a port as text":        {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Port":"80"}}`},
		"a port as fraction":    {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Port":1.5}}`},
		"a port over 32 bits":   {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Port":2147483648}}`},
		"a huge port":           {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Port":1e30}}`},
		"tags as text":          {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Tags":"a"}}`},
		"tags as numbers":       {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Tags":[1]}}`},
		"NUL in a value":        {body: `{"Node":"x","Address":"1.1.1.1","NodeMeta":{"k":"\u0000"}}`},
		"NUL in a key":          {body: `{"Node":"x","Address":"1.1.1.1","NodeMeta":{"\u0000":"v"}}`},
		"meta as list":          {body: `{"Node":"x","Address":"1.1.1.1","NodeMeta":[]}`},
		"service meta numbers":  {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Meta":{"a":1}}}`},
		"checks as object":      {body: `{"Node":"x","Address":"1.1.1.1","Checks":{}}`},
		"service as list":       {body: `{"Node":"x","Address":"1.1.1.1","Service":[]}`},
		"an unknown service":    {body: `{"Node":"x","Address":"1.1.1.1","Check":{"CheckID":"c","ServiceID":"nope"}}`, text: "nope"},
		"one good, one unknown": {body: `{"Node":"n1","Address":"1.1.1.1","Service":{"Service":"new"},"Checks":[{"CheckID":"c","ServiceID":"new"},{"CheckID":"d","ServiceID":"nope"}]}`, text: "nope"},
		"the same check twice":  {body: `{"Node":"x","Address":"1.1.1.1","Checks":[{"CheckID":"c"},{"CheckID":"c"}]}`},
		"another node's check":  {body: `{"Node":"x","Address":"1.1.1.1","Check":{"Node":"y","CheckID":"c"}}`},
		"a bad node ID":         {body: `{"Node":"x","ID":"zz","Address":"1.1.1.1"}`},
		"an unspecified addr":   {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Address":"0.0.0.0"}}`},
		"another datacenter":    {body: `{"Datacenter":"dc9","Node":"x","Address":"1.1.1.1"}`},
		"65 metadata pairs":     {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Meta":` + manyPairs(65) + `}}`},
		"a bad metadata key":    {body: `{"Node":"x","Address":"1.1.1.1","Service":{"Service":"s","Meta":{"a b":"c"}}}`},
	}
}

func manyPairs(n int) string {
	var pairs []string
	for i := range n {
		pairs = append(pairs, fmt.Sprintf(`"k%d":"v"`, i))
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

func badQueries() map[string]refusal {
	return map[string]refusal{
		"no service":             {body: `{"Name":"x"}`},
		"an empty service":       {body: `{"Name":"x","Service":{"Service":""}}`},
		"a name of 256":          {body: fmt.Sprintf(`{"Name":%q,"Service":{"Service":"web"}}`, name256())},
		"a service of 256":       {body: fmt.Sprintf(`{"Name":"x","Service":{"Service":%q}}`, name256())},
		"a name as number":       {body: `{"Name":1,"Service":{"Service":"web"}}`},
		"a service as text":      {body: `{"Name":"x","Service":"web"}`},
		"tags as text":           {body: `{"Name":"x","Service":{"Service":"web","Tags":"a"}}`},
		"a flag as text":         {body: `{"Name":"x","Service":{"Service":"web","OnlyPassing":"yes"}}`},
		"metadata as numbers":    {body: `{"Name":"x","Service":{"Service":"web","NodeMeta":{"a":1}}}`},
		"a TTL that is none":     {body: `{"Name":"x","Service":{"Service":"web"},"DNS":{"TTL":"soon"}}`},
		"a negative TTL":         {body: `{"Name":"x","Service":{"Service":"web"},"DNS":{"TTL":"-1s"}}`},
		"a negative NearestN":    {body: `{"Name":"x","Service":{"Service":"web","Failover":{"NearestN":-1}}}`},
		"targets and NearestN":   {body: `{"Name":"x","Service":{"Service":"web","Failover":{"NearestN":1,"Targets":[{"Peer":"p"}]}}}`},
		"a session that is none": {body: `{"Name":"x","Session":"nope","Service":{"Service":"web"}}`},
		"an unknown session":     {body: `{"Name":"x","Session":"5e8a2d53-3e93-4f52-9d5f-7c1e5a9d0000","Service":{"Service":"web"}}`},
		"a redacted token":       {body: `{"Name":"x","Token":"<hidden>","Service":{"Service":"web"}}`},
	}
}

func TestBadInputIsRefusedAndStoresNothing(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	g := fleetOn(t, database, 1)[0]
	query, _ := world(t, g)
	all := refusals(query)
	rows, said := dump(t, database), answersOf(t, g)
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			began := time.Now()
			a := g.ask(t, r.method, r.path, r.body)
			took := time.Since(began)
			if r.status == 0 {
				require.GreaterOrEqual(t, a.status, 400, a.body)
				require.Less(t, a.status, 500, a.body)
			} else {
				require.Equal(t, r.status, a.status, a.body)
			}
			require.Contains(t, a.body, r.text)
			require.NotEmpty(t, a.body)
			require.NotContains(t, strings.TrimSuffix(a.body, "\n"), "\n", "an error is one line")
			require.Less(t, len(a.body), 2*kilo)
			require.Equal(t, "text/plain; charset=utf-8", a.header.Get("Content-Type"))
			require.Less(t, took, time.Second)
		})
	}
	require.Equal(t, rows, dump(t, database), "something was stored")
	require.Equal(t, said, answersOf(t, g))
}

// refusals are all of them, by the endpoints that they are sent to.
func refusals(query string) []refusal {
	var all []refusal
	add := func(method, path string, list map[string]refusal) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			r := list[name]
			r.method, r.path, r.name = method, path, method+" "+path+" "+name
			all = append(all, r)
		}
	}
	update := "/v1/query/" + query
	const registration, deregistration, definition = `{"Node":"%s","Address":"1.1.1.1"}`, `{"Node":"%s"}`, `{"Name":"%s","Service":{"Service":"web"}}`
	add(http.MethodPut, registerPath, badBodies(registration))
	add(http.MethodPut, deregisterPath, badBodies(deregistration))
	add(http.MethodPost, "/v1/query", badBodies(definition))
	add(http.MethodPut, update, badBodies(definition))
	add(http.MethodPut, registerPath, badRegistrations())
	add(http.MethodPost, "/v1/query", badQueries())
	add(http.MethodPut, update, badQueries())
	taken := map[string]refusal{
		"the same name":          {body: `{"Name":"other","Service":{"Service":"web"}}`, status: 409},
		"the name in other case": {body: `{"Name":"OTHER","Service":{"Service":"web"}}`, status: 409},
	}
	add(http.MethodPost, "/v1/query", taken)
	add(http.MethodPut, update, taken)
	add(http.MethodPost, "/v1/query", map[string]refusal{
		"an ID given":               {body: `{"ID":"` + query + `","Service":{"Service":"web"}}`, status: 400},
		"the ID of a query as name": {body: `{"Name":"` + query + `","Service":{"Service":"web"}}`, status: 409},
	})
	add(http.MethodPut, deregisterPath, map[string]refusal{
		"no node":        {body: `{"ServiceID":"web"}`},
		"a node of 256":  {body: fmt.Sprintf(`{"Node":%q}`, name256())},
		"a service 256":  {body: fmt.Sprintf(`{"Node":"n1","ServiceID":%q}`, name256())},
		"wrong type":     {body: `{"Node":["n1"]}`},
		"another center": {body: `{"Node":"n1","Datacenter":"dc9"}`},
	})
	return append(all, badPaths(query)...)
}

func badPaths(query string) []refusal {
	const missing = "5e8a2d53-3e93-4f52-9d5f-7c1e5a9d0000"
	good := `{"Name":"new","Service":{"Service":"web"}}`
	deep := url.QueryEscape(strings.Repeat("(", 512*kilo))
	all := []refusal{
		{method: "PUT", path: "/v1/query/" + missing, body: good, status: 404},
		{method: "DELETE", path: "/v1/query/" + missing, status: 404},
		{method: "GET", path: "/v1/query/" + missing, status: 404},
		{method: "GET", path: "/v1/query/nobody/execute", status: 404},
		{method: "PUT", path: "/v1/query/mine", body: good, status: 400},
		{method: "DELETE", path: "/v1/query/mine", status: 400},
		{method: "GET", path: "/v1/nothing", status: 404},
		{method: "GET", path: "/", status: 404},
		{method: "GET", path: "/v2/query", status: 404},
		{method: "GET", path: "/v1/catalog/service/a/b", status: 404},
		{method: "GET", path: "/v1/catalog/service/", status: 400},
		{method: "GET", path: "/v1/catalog/service/" + name256(), status: 400},
		{method: "GET", path: "/v1/catalog/node/a%00b", status: 400},
		{method: "GET", path: "/v1/catalog/node/a%ffb", status: 400},
		{method: "GET", path: "/v1/catalog/nodes?x=%zz", status: 400},
		{method: "GET", path: "/v1/catalog/nodes?dc=dc9", status: 400},
		{method: "GET", path: "/v1/catalog/nodes?index=-1", status: 400, text: "Invalid index"},
		{method: "GET", path: "/v1/catalog/nodes?index=x", status: 400, text: "Invalid index"},
		{method: "GET", path: "/v1/catalog/nodes?wait=10", status: 400, text: "Invalid wait time"},
		{method: "GET", path: "/v1/catalog/nodes?stale&consistent", status: 400},
		{method: "GET", path: "/v1/catalog/nodes?max_stale=x", status: 400},
		{method: "GET", path: "/v1/catalog/nodes?ns=other", status: 400},
		{method: "GET", path: "/v1/health/service/web?passing=zz", status: 400},
		{method: "GET", path: "/v1/query/mine/execute?limit=x", status: 400},
		{method: "GET", path: "/v1/query/mine/execute?connect=x", status: 400},
		{method: "GET", path: "/v1/catalog/nodes?filter=" + url.QueryEscape(`Nonsense == "x"`), status: 400},
		{method: "GET", path: "/v1/catalog/nodes?filter=" + url.QueryEscape(`Node ==`), status: 400},
		{method: "GET", path: "/v1/health/service/web?filter=" + strings.Repeat("(", 512*kilo), status: 400},
		{method: "GET", path: "/v1/health/service/web?filter=" + strings.Repeat("%7B", 150*kilo), status: 400},
		{method: "GET", path: "/v1/health/service/web?filter=" + strings.Repeat("(", 512), status: 400},
		{method: "GET", path: "/v1/health/service/web?filter=" + strings.Repeat("not+", 1000) + "x", status: 400},
		{method: "GET", path: "/v1/health/service/web?filter=" + deep[:300*kilo], status: 400},
		{method: "GET", path: "/v1/health/service/web?filter=((((" + strings.Repeat("not+", 15) + "A))))", status: 400},
		{method: "GET", path: "/v1/health/service/web?filter=(((" + strings.Repeat("not+", 120) + "A)))", status: 400},
		{method: "GET", path: "/v1/health/service/web?filter=((" + strings.Repeat("not+", 500) + "A))", status: 400},
		{method: "GET", path: "/v1/health/service/web?filter=((((" + strings.Repeat("A==b+or+", 12) + "A))))", status: 400},
	}
	for _, path := range []string{registerPath, deregisterPath} {
		for _, method := range []string{"GET", "POST", "DELETE", "PATCH", "BREW"} {
			all = append(all, refusal{method: method, path: path, body: "{}", status: 405})
		}
	}
	for _, path := range []string{"/v1/catalog/nodes", "/v1/health/service/web", "/v1/query/" + query + "/execute"} {
		for _, method := range []string{"PUT", "POST", "DELETE"} {
			all = append(all, refusal{method: method, path: path, body: "{}", status: 405})
		}
	}
	for i := range all {
		r := &all[i]
		r.name = r.method + " " + r.path[:min(len(r.path), 80)]
	}
	return all
}

func TestRefusedMethodsSayWhatIsAllowed(t *testing.T) {
	t.Parallel()
	g := fleet(t, 1)[0]
	for path, want := range map[string]string{
		"/v1/query": "OPTIONS,GET,POST", "/v1/query/x": "OPTIONS,GET,PUT,DELETE", registerPath: "OPTIONS,PUT", "/v1/catalog/nodes": "OPTIONS,GET",
	} {
		a := g.ask(t, http.MethodPatch, path, "{}")
		require.Equal(t, http.StatusMethodNotAllowed, a.status, path)
		require.Equal(t, want, a.header.Get("Allow"), path)
	}
}

// A body without a length is not a way around the limit.
func TestABodyWithoutLengthIsLimitedToo(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	g := fleetOn(t, database, 1)[0]
	before := dump(t, database)
	body := fmt.Sprintf(`{"Node":"n1","Address":"1.1.1.1","Check":{"CheckID":"c","Output":%q}}`, strings.Repeat("x", 2<<20))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, g.base+registerPath, io.MultiReader(strings.NewReader(body)))
	require.NoError(t, err)
	require.Zero(t, request.ContentLength)
	response, err := g.client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode, string(text))
	require.Equal(t, before, dump(t, database))

	fits := `{"Node":"n1","Address":"1.1.1.1","Check":{"CheckID":"c","Output":"`
	fits += strings.Repeat("x", 2<<20-len(fits)-len(`"}}`)) + `"}}`
	require.Len(t, fits, 2<<20)
	g.register(t, fits)
	require.Contains(t, g.get(t, "/v1/health/node/n1").body, strings.Repeat("x", 1<<20))
}

// Two replicas that are asked for the same name in the same moment: one wins.
func TestOneOfTwoSimultaneousCreatesWins(t *testing.T) {
	t.Parallel()
	gates := fleet(t, 2)
	for round := range 50 {
		name := fmt.Sprint("Contested-", round)
		bodies := []string{
			fmt.Sprintf(`{"Name":%q,"Service":{"Service":"a"}}`, name),
			fmt.Sprintf(`{"Name":%q,"Service":{"Service":"b"}}`, strings.ToLower(name)),
		}
		type outcome struct {
			answer
			err error
		}
		outcomes := make([]chan outcome, 2)
		for i, g := range gates {
			outcomes[i] = make(chan outcome, 1)
			go func() {
				a, err := g.try(context.Background(), http.MethodPost, "/v1/query", bodies[i])
				outcomes[i] <- outcome{a, err}
			}()
		}
		a, b := <-outcomes[0], <-outcomes[1]
		require.NoError(t, a.err)
		require.NoError(t, b.err)
		require.ElementsMatch(t, []int{http.StatusOK, http.StatusConflict}, []int{a.status, b.status}, "%s %s", a.body, b.body)
		winner := "a"
		if b.status == http.StatusOK {
			winner = "b"
		}
		for _, g := range gates {
			require.Contains(t, g.get(t, "/v1/query/"+name+"/execute").body, fmt.Sprintf(`"Service":%q`, winner))
		}
	}
	var list []struct{ Name string }
	gates[0].get(t, "/v1/query?consistent").into(t, &list)
	require.Len(t, list, 50)
}
