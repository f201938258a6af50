package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
	"github.com/spf13/cobra"

	"signpost/cmd/signpost/config"
)

// lookupTypes are the record types that a gateway has answers for.
var lookupTypes = []string{"A", "AAAA", "SRV", "ANY", "TXT", "CNAME", "PTR", "NS", "SOA"}

// datagram is the size of reply, in bytes, that a lookup offers to take by udp.
const datagram = 1232

// newLookupCommand asks a gateway one DNS question.
func newLookupCommand() *cobra.Command {
	var timeout time.Duration
	var typeName string
	var tcp bool
	command := &cobra.Command{
		Use:   "lookup NAME",
		Short: "Ask a running gateway one DNS question",
		Long: "Asks the gateway at --dns for the records of NAME, by udp, and again by tcp if\n" +
			"the answer was cut. The exit status is 0 for an answer, even an empty one, and 1\n" +
			"if the name does not exist, the gateway refuses, or cannot be reached.",
		Example: "  signpost lookup web.query.signpost --type SRV",
		Args:    cobra.ExactArgs(1),
	}
	flags := config.AddFlags(command.Flags(), "dns")
	command.Flags().Lookup("dns").Usage = "ask the gateway at `ADDR`"
	command.Flags().DurationVar(&timeout, "timeout", clientTimeout, "give up after `TIME`")
	command.Flags().StringVar(&typeName, "type", "A", "ask for records of `TYPE`: "+strings.Join(lookupTypes, ", "))
	command.Flags().BoolVar(&tcp, "tcp", false, "ask by tcp at once")
	command.RunE = func(command *cobra.Command, args []string) error {
		question, err := newQuestion(args[0], typeName)
		if err != nil {
			return err
		}
		c, err := config.Load(*flags, os.LookupEnv)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(command.Context(), timeout)
		defer cancel()
		return lookup(ctx, command.OutOrStdout(), question, reachable(c.Addresses.DNS), tcp)
	}
	return command
}

// newQuestion checks name and type. An IP address asked for as PTR stands for
// its reverse name.
func newQuestion(name, typeName string) (*dns.Msg, error) {
	typeName = strings.ToUpper(typeName)
	if !slices.Contains(lookupTypes, typeName) {
		return nil, usageError{fmt.Errorf("--type %q is not one of %s", typeName, strings.Join(lookupTypes, ", "))}
	}
	if _, err := netip.ParseAddr(name); err == nil && typeName == "PTR" {
		if name, err = dns.ReverseAddr(name); err != nil {
			return nil, usageError{err}
		}
	}
	if _, ok := dns.IsDomainName(name); !ok {
		return nil, usageError{fmt.Errorf("%q is not a DNS name", name)}
	}
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(name), dns.StringToType[typeName])
	question.SetEdns0(datagram, false)
	return question, nil
}

// lookup asks the question and prints the answer. A reply code other than
// NOERROR is an error, after its records have been printed.
func lookup(ctx context.Context, out io.Writer, question *dns.Msg, address string, tcp bool) error {
	network := "udp"
	if tcp {
		network = "tcp"
	}
	reply, took, err := exchange(ctx, question, address, network)
	if err == nil && reply.Truncated && !tcp {
		network = "tcp"
		reply, took, err = exchange(ctx, question, address, network)
	}
	if err != nil {
		return fmt.Errorf("ask %s by %s: %w", address, network, err)
	}
	printReply(out, reply, fmt.Sprintf("%s from %s by %s", took.Round(10*time.Microsecond), address, network))
	if reply.Rcode != dns.RcodeSuccess {
		return fmt.Errorf("%s: %s", question.Question[0].Name, rcodeName(reply.Rcode))
	}
	return nil
}

func exchange(ctx context.Context, question *dns.Msg, address, network string) (*dns.Msg, time.Duration, error) {
	// The client's own bound is 2 s; the context has the one that was asked for.
	deadline, ok := ctx.Deadline()
	client := &dns.Client{Net: network}
	if ok {
		client.Timeout = time.Until(deadline)
	}
	return client.ExchangeContext(ctx, question, address)
}

// printReply writes one line on the reply, then each record on a line of its
// own, in the form of a zone file, with a comment before all but the answers.
func printReply(out io.Writer, reply *dns.Msg, how string) {
	words := []string{rcodeName(reply.Rcode), fmt.Sprintf("answers: %d", len(reply.Answer))}
	if reply.Authoritative {
		words = append(words, "authoritative")
	}
	if reply.Truncated {
		words = append(words, "truncated")
	}
	fmt.Fprintf(out, ";; %s, %s\n", strings.Join(words, ", "), how)
	if opt := reply.IsEdns0(); opt != nil {
		for _, option := range opt.Option {
			if note, ok := option.(*dns.EDNS0_EDE); ok {
				fmt.Fprintf(out, ";; note %s\n", note)
			}
		}
	}
	printRecords(out, "", reply.Answer)
	printRecords(out, "authority", reply.Ns)
	printRecords(out, "additional", reply.Extra)
}

func printRecords(out io.Writer, title string, records []dns.RR) {
	for _, record := range records {
		if record.Header().Rrtype == dns.TypeOPT {
			continue
		}
		if title != "" {
			fmt.Fprintf(out, ";; %s\n", title)
			title = ""
		}
		fmt.Fprintln(out, record)
	}
}

func rcodeName(rcode int) string {
	if name, ok := dns.RcodeToString[rcode]; ok {
		return name
	}
	return fmt.Sprintf("RCODE %d", rcode)
}
