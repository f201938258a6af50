package main

import (
	"context"
	"fmt"
	"time"

	"github.com/miekg/dns"
)

func dnsFigures() []figure {
	return []figure{
		{[]string{"DNS query A, udp", "DNS query A, udp, CPU per answer"}, measureUDP},
		{[]string{"DNS query A, tcp"}, measureTCP},
	}
}

func measureUDP(ctx context.Context, w *world) ([]row, error) {
	s, err := w.againstEcho(ctx, "udp")
	if err != nil {
		return nil, err
	}
	rate := relative("DNS query A, udp", perSecond, s.by(rateOf), atLeast(1.6))
	cpu := relative("DNS query A, udp, CPU per answer", seconds, s.by(cpuOf), atMost(0.4))
	if n := lostOf(s.this); n > 0 {
		rate.Note = fmt.Sprintf("%d questions were lost", n)
	}
	return []row{rate, cpu}, nil
}

func measureTCP(ctx context.Context, w *world) ([]row, error) {
	s, err := w.againstEcho(ctx, "tcp")
	if err != nil {
		return nil, err
	}
	r := relative("DNS query A, tcp", perSecond, s.by(rateOf), atLeast(0.8))
	r.Note = s.note()
	return []row{r}, nil
}

func lostOf(list []sample) int {
	n := 0
	for _, s := range list {
		n += s.lost
	}
	return n
}

// againstEcho asks for the ten addresses behind a query.
func (w *world) againstEcho(ctx context.Context, transport string) (samples, error) {
	g, err := w.smallGateway(ctx)
	if err != nil {
		return samples{}, err
	}
	if w.echo == nil {
		packed, err := askDNS(ctx, g.dns)
		if err != nil {
			return samples{}, err
		}
		if w.echo, err = w.startYardstick(ctx, "echo", packed); err != nil {
			return samples{}, err
		}
	}
	questions, err := w.questions(1)
	if err != nil {
		return samples{}, err
	}
	s, err := w.compare(ctx, w.asks(g.process, g.dns, transport, questions),
		w.asks(w.echo.process, w.echo.address, transport, questions))
	if err == nil && s.this[0].size != s.yardstick[0].size {
		err = fmt.Errorf("answers have %v bytes, the yardstick's %v", s.this[0].size, s.yardstick[0].size)
	}
	return s, err
}

// asks puts questions again and again.
func (w *world) asks(p *process, address, transport, questions string) side {
	return side{p, func(ctx context.Context, d time.Duration) (load, error) {
		return w.dnsperf(ctx, transport, address, questions, d)
	}}
}

// askDNS asks as dnsperf does, and checks that the answer is the one that is
// to be measured. It is packed.
func askDNS(ctx context.Context, address string) ([]byte, error) {
	q := new(dns.Msg)
	q.SetQuestion(serviceName(0)+".query.signpost.", dns.TypeA)
	q.RecursionDesired = false
	q.SetEdns0(4096, false)
	answer, _, err := new(dns.Client).ExchangeContext(ctx, q, address)
	if err != nil {
		return nil, fmt.Errorf("ask by DNS: %w", err)
	}
	if len(answer.Answer) != instancesPerService || answer.IsEdns0() == nil {
		return nil, fmt.Errorf("the answer by DNS is not %d addresses and an OPT: %s", instancesPerService, answer)
	}
	return answer.Pack()
}
