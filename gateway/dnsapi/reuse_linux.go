package dnsapi

import (
	"context"
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// multiply replaces a socket by n on the same address, between which the
// system spreads the clients, so that reading scales with the processors.
func multiply(c *net.UDPConn, n int) ([]*net.UDPConn, error) {
	if n == 1 {
		return []*net.UDPConn{c}, nil
	}
	addr := c.LocalAddr().String()
	network := "udp"
	if ip := c.LocalAddr().(*net.UDPAddr).IP; ip.To4() != nil {
		network = "udp4"
	}
	if err := c.Close(); err != nil {
		return nil, err
	}
	share := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if outer := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}); outer != nil {
			return outer
		}
		return err
	}}
	var out []*net.UDPConn
	for range n {
		c, err := share.ListenPacket(context.Background(), network, addr)
		if err != nil {
			for _, c := range out {
				err = errors.Join(err, c.Close())
			}
			return nil, err
		}
		out = append(out, c.(*net.UDPConn))
	}
	return out, nil
}
