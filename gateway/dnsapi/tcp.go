package dnsapi

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	idleLimit   = 10 * time.Second // between questions, and for taking an answer
	drainLimit  = 5 * time.Second  // for answers on their way when the server stops
	acceptPause = 10 * time.Millisecond
	lengthSize  = 2 // the prefix of each message, RFC 1035 section 4.2.2
)

// connections are those that are open, at most so many at a time.
type connections struct {
	limit    int
	patience time.Duration // with a client that neither asks nor takes an answer

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

func newConnections(limit int) *connections {
	return &connections{limit: limit, patience: idleLimit, open: map[net.Conn]struct{}{}}
}

// add is false when there is no room for another one.
func (cs *connections) add(c net.Conn) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed || len(cs.open) >= cs.limit {
		return false
	}
	cs.open[c] = struct{}{}
	return true
}

func (cs *connections) remove(c net.Conn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.open, c)
}

// idle lets a connection wait for its next question, unless the server stops.
func (cs *connections) idle(c net.Conn) error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		return net.ErrClosed
	}
	return c.SetReadDeadline(time.Now().Add(cs.patience))
}

// busy gives a client that takes nothing only so much time.
func (cs *connections) busy(c net.Conn) error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed { // drain has set a limit
		return nil
	}
	return c.SetWriteDeadline(time.Now().Add(cs.patience))
}

// drain lets each connection answer what it has read, and no more.
func (cs *connections) drain() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.closed = true
	for c := range cs.open {
		// A connection that fails here is closed already.
		_ = c.SetReadDeadline(time.Unix(1, 0))
		_ = c.SetWriteDeadline(time.Now().Add(drainLimit))
	}
}

// serveTCP accepts connections until ctx is done, and returns when the last
// has ended.
func (s *Server) serveTCP(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := s.tcp.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				err = c.Close()
				s.log.Debug("a DNS connection came too late", "error", err)
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // out of descriptors, most likely
			s.log.Warn("accepting a DNS connection", "error", err)
			pause(ctx, acceptPause)
			continue
		}
		if !s.conns.add(c) {
			s.log.Debug("too many DNS connections", "from", c.RemoteAddr())
			if err := c.Close(); err != nil {
				s.log.Debug("closing a DNS connection", "error", err)
			}
			continue
		}
		all.Go(func() {
			defer s.conns.remove(c)
			if err := s.converse(ctx, c); err != nil {
				s.log.Debug("a DNS connection ended", "from", c.RemoteAddr(), "error", err)
			}
		})
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// conversation is the memory of connections, used one after the other.
type conversation struct {
	w        *worker
	in       *bufio.Reader
	out      *bufio.Writer
	question []byte
}

func newConversation() any {
	return &conversation{w: newWorker(), in: bufio.NewReader(nil), out: bufio.NewWriterSize(nil, 16<<10)}
}

// converse answers the questions of one connection in their order. Answers
// are sent when no further question waits to be read.
func (s *Server) converse(ctx context.Context, c net.Conn) error {
	v := s.conversations.Get().(*conversation)
	v.in.Reset(c)
	v.out.Reset(c)
	defer func() {
		v.in.Reset(nil)
		v.out.Reset(nil)
		s.conversations.Put(v)
	}()
	from := client{tcp: true}
	if addr, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
		from.addr = addr.Addr().Unmap()
	}
	err := s.questions(ctx, v, c, from)
	if errors.Is(err, io.EOF) { // it has no more questions
		err = nil
	}
	return errors.Join(err, s.flush(v, c), c.Close())
}

func (s *Server) questions(ctx context.Context, v *conversation, c net.Conn, from client) error {
	for {
		if !v.ready() {
			if err := s.flush(v, c); err != nil {
				return err
			}
			if err := s.conns.idle(c); err != nil {
				return nil // the server stops
			}
		}
		packet, err := v.next()
		if err != nil {
			return err
		}
		answer := s.handler.handle(ctx, v.w, packet, from)
		if answer == nil {
			continue
		}
		if v.out.Available() < lengthSize+len(answer) {
			if err := s.flush(v, c); err != nil {
				return err
			}
		}
		if _, err := v.out.Write(binary.BigEndian.AppendUint16(v.out.AvailableBuffer(), uint16(len(answer)))); err != nil {
			return err
		}
		if _, err := v.out.Write(answer); err != nil {
			return err
		}
	}
}

func (s *Server) flush(v *conversation, c net.Conn) error {
	if v.out.Buffered() == 0 {
		return nil
	}
	if err := s.conns.busy(c); err != nil {
		return err
	}
	return v.out.Flush()
}

// ready tells whether a whole message has been read already.
func (v *conversation) ready() bool {
	if v.in.Buffered() < lengthSize {
		return false
	}
	prefix, err := v.in.Peek(lengthSize)
	return err == nil && v.in.Buffered() >= lengthSize+int(binary.BigEndian.Uint16(prefix))
}

// next reads a message. What it gives is valid until the next one.
func (v *conversation) next() ([]byte, error) {
	prefix, err := v.in.Peek(lengthSize)
	if err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint16(prefix))
	if _, err := v.in.Discard(lengthSize); err != nil {
		return nil, err
	}
	if cap(v.question) < length {
		v.question = make([]byte, length)
	}
	v.question = v.question[:length]
	_, err = io.ReadFull(v.in, v.question)
	return v.question, err
}
