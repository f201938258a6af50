package catalog

// Check is a health check of a node (ServiceID empty) or of one service
// instance on it. (Node, ID) identifies it.
// Source: reference, catalog and ACL, section 1.1.
type Check struct {
	Node        string
	ID          string
	Name        string
	Status      Status
	Notes       string
	Output      string
	ServiceID   string // empty: the check is about the whole node
	Type        string
	Interval    string
	Timeout     string
	ExposedPort int
	Definition  *CheckDefinition // nil: none is given
	CreateIndex Index
	ModifyIndex Index
}

// Status is the outcome of a check. Any text is stored as it came; everything
// but these words counts as "not passing".
type Status string

// The words that have a meaning.
const (
	Passing  Status = "passing"
	Warning  Status = "warning"
	Critical Status = "critical"
)

// CheckDefinition says how a check is made, for those that run it.
type CheckDefinition struct {
	HTTP                           string              `json:",omitempty"`
	TLSServerName                  string              `json:",omitempty"`
	TLSSkipVerify                  bool                `json:",omitempty"`
	Header                         map[string][]string `json:",omitempty"`
	Method                         string              `json:",omitempty"`
	Body                           string              `json:",omitempty"`
	DisableRedirects               bool                `json:",omitempty"`
	TCP                            string              `json:",omitempty"`
	TCPUseTLS                      bool                `json:",omitempty"`
	UDP                            string              `json:",omitempty"`
	GRPC                           string              `json:",omitempty"`
	GRPCUseTLS                     bool                `json:",omitempty"`
	H2PING                         string              `json:",omitempty"`
	H2PingUseTLS                   bool                `json:",omitempty"`
	OSService                      string              `json:",omitempty"`
	Interval                       Duration            `json:",omitempty"`
	Timeout                        Duration            `json:",omitempty"`
	DeregisterCriticalServiceAfter Duration            `json:",omitempty"`
}
