package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// proxy stands between gateways and Postgres and cuts connections off in the
// moment of a commit, in three ways:
//
//	lost  the server commits, its answer is swallowed
//	torn  half of the transaction arrives, and then the end of the connection
//	late  the connection ends, and the whole transaction arrives afterwards,
//	      when the gateway may have looked for it already
//
// It can also fall silent: connections stay open, new ones are accepted, and
// nothing passes until the silence ends; then everything arrives, late.
//
// It reads the protocol of version 3, far enough to know a COMMIT.
// Source: PostgreSQL documentation, "Message Formats".
type proxy struct {
	listener net.Listener
	socket   string // of Postgres
	database string
	user     string
	calm     atomic.Bool  // nothing is cut off
	silence  sync.RWMutex // held for writing while nothing passes

	commits, lost, torn, late, lateDone atomic.Int64
}

const (
	cutOneIn   = 4 // commits, on average
	lateAtMost = 250 * time.Millisecond
)

func newProxy(url string) (*proxy, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &proxy{listener: l, socket: filepath.Join(c.Host, ".s.PGSQL."+strconv.Itoa(int(c.Port))), database: c.Database, user: c.User}
	go p.serve()
	return p, nil
}

func (p *proxy) url() string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", p.user, p.listener.Addr(), p.database)
}

func (p *proxy) close() { _ = p.listener.Close() }

// wait returns when it is not silent.
func (p *proxy) wait() {
	p.silence.RLock()
	defer p.silence.RUnlock()
}

// held passes on what is written when it is not silent.
type held struct {
	*proxy
	to io.Writer
}

func (h held) Write(b []byte) (int, error) {
	h.wait()
	return h.to.Write(b)
}

func (p *proxy) cuts() int64 { return p.lost.Load() + p.torn.Load() + p.late.Load() }

func (p *proxy) String() string {
	return fmt.Sprintf("of %d commits: answer lost %d, half arrived %d, arrived late %d (of which %d committed)",
		p.commits.Load(), p.lost.Load(), p.torn.Load(), p.late.Load(), p.lateDone.Load())
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.socket)
		if err != nil {
			_ = client.Close()
			continue
		}
		go (&link{proxy: p, client: client, server: server, statements: map[string]string{}}).run()
	}
}

// link is one connection.
type link struct {
	*proxy
	client, server net.Conn
	statements     map[string]string // prepared ones, by name
	lose           atomic.Bool       // the answer to the next commit
	isLate         atomic.Bool       // nobody hears the answers any more
}

func (l *link) run() {
	defer l.client.Close()
	startup, err := readSized(l.client, nil)
	if err != nil {
		_ = l.server.Close()
		return
	}
	if _, err := (held{l.proxy, l.server}).Write(startup); err != nil {
		_ = l.server.Close()
		return
	}
	if !bytes.Contains(startup, []byte("signpost writer\x00")) {
		go func() { _, _ = io.Copy(held{l.proxy, l.client}, l.server); _ = l.client.Close() }()
		_, _ = io.Copy(held{l.proxy, l.server}, l.client)
		_ = l.server.Close()
		return
	}
	ended := make(chan struct{})
	go func() { defer close(ended); l.answers() }()
	l.requests()
	if l.isLate.Load() {
		<-ended
	}
	_ = l.server.Close()
}

// readSized reads a message: prefix was read already, then come four bytes of
// length, which count themselves, and the rest.
func readSized(from io.Reader, prefix []byte) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head)
	if size < 4 || size > 1<<26 {
		return nil, errors.New("not a message")
	}
	out := make([]byte, len(prefix)+int(size))
	copy(out, prefix)
	copy(out[len(prefix):], head)
	_, err := io.ReadFull(from, out[len(prefix)+4:])
	return out, err
}

func readMessage(from io.Reader) ([]byte, error) {
	kind := make([]byte, 1)
	if _, err := io.ReadFull(from, kind); err != nil {
		return nil, err
	}
	return readSized(from, kind)
}

// requests passes on what the client sends, batch by batch.
func (l *link) requests() {
	var batch []byte
	commits := false
	for {
		m, err := readMessage(l.client)
		if err != nil {
			return
		}
		batch = append(batch, m...)
		commits = l.isCommit(m) || commits
		if m[0] != 'S' && m[0] != 'Q' && m[0] != 'X' {
			continue // it is not the end of a batch
		}
		l.wait()
		if commits && !l.pass(batch) {
			return
		}
		if !commits {
			if _, err := l.server.Write(batch); err != nil {
				return
			}
		}
		batch, commits = nil, false
	}
}

// isCommit tells whether a message of the client executes COMMIT, and learns
// the statements that it prepares.
func (l *link) isCommit(m []byte) bool {
	switch body := m[5:]; m[0] {
	case 'Q':
		return bytes.EqualFold(bytes.TrimRight(body, "\x00"), []byte("COMMIT"))
	case 'P':
		name, rest, _ := bytes.Cut(body, []byte{0})
		sql, _, _ := bytes.Cut(rest, []byte{0})
		l.statements[string(name)] = string(sql)
	case 'B':
		_, rest, _ := bytes.Cut(body, []byte{0}) // the portal's name
		name, _, _ := bytes.Cut(rest, []byte{0})
		return l.statements[string(name)] == "COMMIT"
	}
	return false
}

// pass sends a batch that commits, in one way or another. It tells whether
// the connection lives on.
func (l *link) pass(batch []byte) bool {
	l.commits.Add(1)
	if l.calm.Load() || rand.N(cutOneIn) > 0 {
		_, err := l.server.Write(batch)
		return err == nil
	}
	switch rand.N(3) {
	case 0:
		l.lost.Add(1)
		l.lose.Store(true)
		_, err := l.server.Write(batch)
		return err == nil
	case 1:
		l.torn.Add(1)
		_, _ = l.server.Write(batch[:len(batch)/2])
		_ = l.client.Close()
	default:
		l.late.Add(1)
		l.isLate.Store(true)
		_ = l.client.Close()
		time.Sleep(rand.N(lateAtMost))
		_, _ = l.server.Write(batch)
		_ = l.server.SetReadDeadline(time.Now().Add(10 * time.Second))
	}
	return false
}

// answers passes on what the server sends.
func (l *link) answers() {
	for {
		m, err := readMessage(l.server)
		if err != nil {
			_ = l.client.Close()
			return
		}
		committed := m[0] == 'C' && bytes.Equal(m[5:], []byte("COMMIT\x00"))
		if l.isLate.Load() {
			if committed {
				l.lateDone.Add(1)
			}
			if m[0] == 'Z' {
				return
			}
			continue
		}
		if committed && l.lose.Load() {
			_ = l.client.Close()
			return
		}
		if _, err := (held{l.proxy, l.client}).Write(m); err != nil {
			return
		}
	}
}
