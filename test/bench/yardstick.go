package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/miekg/dns"

	"signpost/db/localpg/child"
)

// yardstickCommand makes this program a yardstick instead of the benchmark:
//
//	bench yardstick echo|static|wait FILE
//
// FILE has the answer, as JSON. The yardstick prints where it listens and
// serves until it is ended.
const yardstickCommand = "yardstick"

const listening = "listening on "

func runYardstick(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want a kind and a file, have %q", args)
	}
	content, err := os.ReadFile(args[1])
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch args[0] {
	case "echo":
		var packed []byte
		if err := json.Unmarshal(content, &packed); err != nil {
			return fmt.Errorf("decode the answer: %w", err)
		}
		return echo(packed)
	case "static", "wait":
		var answers []httpAnswer
		if err := json.Unmarshal(content, &answers); err != nil {
			return fmt.Errorf("decode the answer: %w", err)
		}
		gin.SetMode(gin.ReleaseMode)
		e := gin.New()
		if args[0] == "static" {
			static(e, answers)
		} else {
			waiter(e, answers[0])
		}
		return serveYardstick(e)
	}
	return fmt.Errorf("unknown kind %q", args[0])
}

// echo is the smallest miekg/dns server with one fixed answer: the records
// and the OPT of a packed message.
func echo(packed []byte) error {
	var fixed dns.Msg
	if err := fixed.Unpack(packed); err != nil {
		return fmt.Errorf("unpack the answer: %w", err)
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) {
		m := new(dns.Msg)
		m.SetReply(r)
		m.Authoritative, m.Compress = fixed.Authoritative, true
		m.Answer, m.Extra = fixed.Answer, fixed.Extra
		_ = w.WriteMsg(m) // whoever asked is gone
	})
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	streams, err := net.Listen("tcp", packets.LocalAddr().String())
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	failed := make(chan error, 2)
	go func() { failed <- (&dns.Server{PacketConn: packets, Handler: handler}).ActivateAndServe() }()
	go func() {
		// dnsperf asks any number of questions on one connection.
		failed <- (&dns.Server{Listener: streams, Handler: handler, MaxTCPQueries: -1}).ActivateAndServe()
	}()
	fmt.Println(listening + packets.LocalAddr().String())
	return <-failed
}

// httpAnswer is an answer that a yardstick gives again.
type httpAnswer struct {
	Path   string
	Header http.Header
	Body   []byte
}

func (a httpAnswer) send(c *gin.Context) {
	h := c.Writer.Header()
	for name, values := range a.Header {
		h[name] = values
	}
	c.Status(http.StatusOK)
	_, _ = c.Writer.Write(a.Body) // whoever asked is gone
}

// static is the smallest gin handler for each answer.
func static(e *gin.Engine, answers []httpAnswer) {
	for _, a := range answers {
		e.GET(a.Path, a.send)
	}
}

// waiter is a gin handler that only waits on a channel, which /wake closes.
func waiter(e *gin.Engine, a httpAnswer) {
	var mu sync.Mutex
	wake := make(chan struct{})
	e.GET("/wait", func(c *gin.Context) {
		mu.Lock()
		until := wake
		mu.Unlock()
		select {
		case <-until:
			a.send(c)
		case <-c.Request.Context().Done():
		}
	})
	e.GET("/wake", func(c *gin.Context) {
		mu.Lock()
		close(wake)
		wake = make(chan struct{})
		mu.Unlock()
		c.Status(http.StatusOK)
	})
}

func serveYardstick(e *gin.Engine) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Println(listening + l.Addr().String())
	return (&http.Server{Handler: e}).Serve(l)
}

// yardstick is one that runs.
type yardstick struct {
	*process
	address string
}

// startYardstick runs this program as a yardstick with an answer.
func (w *world) startYardstick(ctx context.Context, kind string, answer any) (*yardstick, error) {
	content, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	file := filepath.Join(w.dir, fmt.Sprintf("%s-%d.json", kind, time.Now().UnixNano()))
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	p, err := launch(kind, child.Kill, w.options.keep, self, yardstickCommand, kind, file)
	if err != nil {
		return nil, err
	}
	w.running = append(w.running, p)
	line, err := p.await(ctx, 5*time.Second, func(line string) bool { return strings.HasPrefix(line, listening) })
	if err != nil {
		return nil, err
	}
	return &yardstick{p, strings.TrimPrefix(line, listening)}, nil
}
