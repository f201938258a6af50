package dnsapi

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

const (
	batchSize    = 32   // packets that are read and written at a time
	questionSize = 4096 // bytes; a longer question is cut and then malformed
)

// batcher is what ipv4.PacketConn and ipv6.PacketConn have in common.
type batcher interface {
	ReadBatch(ms []ipv4.Message, flags int) (int, error)
	WriteBatch(ms []ipv4.Message, flags int) (int, error)
}

// batch is the memory of one socket. in and out have the same places: the
// answer to in[i] goes to where in[i] came from.
type batch struct {
	in, out []ipv4.Message
	answers [batchSize][1][]byte
	replyTo replyTo
}

// replyTo makes, from the control data of a question, that of its answer; nil
// where the socket has one address only.
type replyTo func(oob []byte) []byte

func newBatch(f replyTo, oobSize int) *batch {
	b := &batch{in: make([]ipv4.Message, batchSize), out: make([]ipv4.Message, 0, batchSize), replyTo: f}
	for i := range b.in {
		b.in[i].Buffers = [][]byte{make([]byte, questionSize)}
		b.in[i].OOB = make([]byte, oobSize)
	}
	return b
}

// serveUDP answers what comes in by one socket, in order, until ctx is done.
func (s *Server) serveUDP(ctx context.Context, c *net.UDPConn) error {
	defer func() {
		if err := c.Close(); err != nil {
			s.log.Warn("closing a DNS socket", "error", err)
		}
	}()
	conn, f, oobSize, err := batched(c)
	if err != nil {
		return err
	}
	b, w := newBatch(f, oobSize), newWorker()
	for ctx.Err() == nil {
		n, err := conn.ReadBatch(b.in, 0)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, net.ErrClosed) {
				return err
			}
			s.log.Debug("reading a DNS socket", "error", err)
			pause(ctx, acceptPause)
			continue
		}
		s.answerBatch(ctx, b, w, n)
		s.writeBatch(conn, b.out)
	}
	return nil
}

func (s *Server) answerBatch(ctx context.Context, b *batch, w *worker, n int) {
	b.out = b.out[:0]
	for i := range b.in[:n] {
		m := &b.in[i]
		addr, ok := m.Addr.(*net.UDPAddr)
		if !ok {
			continue
		}
		answer := s.handler.handle(ctx, w, m.Buffers[0][:m.N], client{addr: addr.AddrPort().Addr().Unmap()})
		if answer == nil {
			continue
		}
		kept := &b.answers[i]
		kept[0] = append(kept[0][:0], answer...)
		out := ipv4.Message{Buffers: kept[:], Addr: addr}
		if b.replyTo != nil {
			out.OOB = b.replyTo(m.OOB[:m.NN])
		}
		b.out = append(b.out, out)
	}
}

// writeBatch leaves out what cannot be sent: to a port of 0, to a network
// that is gone.
func (s *Server) writeBatch(conn batcher, ms []ipv4.Message) {
	for len(ms) > 0 {
		n, err := conn.WriteBatch(ms, 0)
		if err != nil {
			s.log.Debug("answering over udp", "to", ms[0].Addr, "error", err)
			n = 1
		}
		ms = ms[n:]
	}
}

// batched prepares a socket. One that is bound to all addresses must send
// each answer from the address that its question came to.
func batched(c *net.UDPConn) (batcher, replyTo, int, error) {
	local := c.LocalAddr().(*net.UDPAddr)
	v4, v6 := ipv4.NewPacketConn(c), ipv6.NewPacketConn(c)
	switch {
	case !local.IP.IsUnspecified():
		return v4, nil, 0, nil
	case local.IP.To4() != nil:
		return v4, replyTo4, len(ipv4.NewControlMessage(ipv4.FlagDst)), v4.SetControlMessage(ipv4.FlagDst, true)
	}
	return v6, replyTo6, len(ipv6.NewControlMessage(ipv6.FlagDst)), v6.SetControlMessage(ipv6.FlagDst, true)
}

func replyTo4(oob []byte) []byte {
	var cm ipv4.ControlMessage
	if cm.Parse(oob) != nil || cm.Dst == nil {
		return nil
	}
	return (&ipv4.ControlMessage{Src: cm.Dst}).Marshal()
}

// replyTo6 is for sockets that take both families: there, IPv4 addresses come
// in IPv6 clothes, but are given as what they are.
func replyTo6(oob []byte) []byte {
	var cm ipv6.ControlMessage
	if cm.Parse(oob) != nil || cm.Dst == nil {
		return nil
	}
	if cm.Dst.To4() != nil {
		return (&ipv4.ControlMessage{Src: cm.Dst}).Marshal()
	}
	return (&ipv6.ControlMessage{Src: cm.Dst}).Marshal()
}

// wake makes a blocked read return.
func wake(c net.Conn, log *slog.Logger) {
	if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil && !errors.Is(err, net.ErrClosed) {
		log.Debug("waking a DNS connection", "error", err)
	}
}
