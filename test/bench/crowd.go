package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// crowd are readers with a connection each, and one request under way.
type crowd struct {
	conns       []net.Conn
	group       sync.WaitGroup
	answered    atomic.Int64
	first, last atomic.Int64 // when the first and the last were answered, as Unix time in ns
	failed      atomic.Pointer[error]
	done        chan struct{}
}

func (b *blocked) connect(ctx context.Context) (*crowd, error) {
	const atATime = 100
	c := &crowd{conns: make([]net.Conn, b.readers), done: make(chan struct{})}
	request := "GET " + b.path + " HTTP/1.1\r\nHost: " + b.address + "\r\n\r\n"
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atATime)
	for i := range c.conns {
		group.Go(func() error {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", b.address)
			if err != nil {
				return fmt.Errorf("connect reader %d: %w", i, err)
			}
			c.conns[i] = conn
			// Closing leaves no port in TIME_WAIT behind.
			if err := conn.(*net.TCPConn).SetLinger(0); err != nil {
				return fmt.Errorf("connect reader %d: %w", i, err)
			}
			_, err = io.WriteString(conn, request)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		c.close()
		return nil, err
	}
	for _, conn := range c.conns {
		c.group.Go(func() { c.read(conn) })
	}
	go func() {
		c.group.Wait()
		close(c.done)
	}()
	return c, nil
}

// read takes one answer.
func (c *crowd) read(conn net.Conn) {
	err := readAnswer(conn)
	now := time.Now().UnixNano()
	if err != nil {
		c.failed.CompareAndSwap(nil, &err)
		return
	}
	c.first.CompareAndSwap(0, now)
	for {
		last := c.last.Load()
		if now <= last || c.last.CompareAndSwap(last, now) {
			break
		}
	}
	c.answered.Add(1)
}

// readAnswer reads one answer to its end. It is cheaper than net/http, as
// 10,000 of them share the cores with the server.
func readAnswer(conn net.Conn) error {
	in := bufio.NewReaderSize(conn, 1024)
	length := -1
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read an answer: %w", err)
		}
		if line == "\r\n" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return fmt.Errorf("read an answer: %w", err)
			}
		}
	}
	if length < 0 {
		return errors.New("read an answer: it has no length")
	}
	if _, err := in.Discard(length); err != nil {
		return fmt.Errorf("read an answer: %w", err)
	}
	return nil
}

// wait returns when all were answered.
func (c *crowd) wait(ctx context.Context) error {
	const patience = 30 * time.Second
	select {
	case <-c.done:
	case <-time.After(patience):
		return fmt.Errorf("%d of %d readers were answered after %s", c.answered.Load(), len(c.conns), patience)
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// close ends all connections and returns when nobody reads any more.
func (c *crowd) close() {
	for _, conn := range c.conns {
		if conn != nil {
			_ = conn.Close() // it is not used any more
		}
	}
	c.group.Wait()
}
