package personal

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// SignIn is a request to sign in with an address: Sign-In with Ethereum (EIP-4361)
// or, with Solana's words, SIWS. Members that are absent are empty.
type SignIn struct {
	Scheme         string // of the site, such as https
	Domain         string
	Address        string
	Statement      string
	URI            string
	Version        string
	ChainID        string
	Nonce          string
	IssuedAt       string
	ExpirationTime string
	NotBefore      string
	RequestID      string
	Resources      []string // nil if the text does not list any
}

// The second half of the first line, in the words of each chain.
const (
	ethereumWords = " wants you to sign in with your Ethereum account:"
	solanaWords   = " wants you to sign in with your Solana account:"
)

// ParseSignIn reads a message of EIP-4361; nil if it is none. What is not exactly
// one is a plain text: it is shown as such.
func ParseSignIn(message string) *SignIn {
	s := parseSignIn(message, ethereumWords)
	if s == nil || !s.complete() || !common.IsHexAddress(s.Address) {
		return nil
	}
	return s
}

// ParseSolanaSignIn reads a message of Sign-In with Solana; nil if it is none.
// Everything but domain and address can be absent there.
func ParseSolanaSignIn(message string) *SignIn { return parseSignIn(message, solanaWords) }

// UnreadSignIn is the detail of the hazard of a text that asks to sign in and is no
// sign-in of the standard that it names.
const UnreadSignIn = "the text asks to sign in and is not a sign-in of %s: which site and account it is for, a site that reads it loosely would decide"

// AsksToSignIn reports whether a text has the words of a sign-in, whatever the case and
// the chain. Sites read sign-ins more loosely than [ParseSignIn] does.
func AsksToSignIn(message []byte) bool {
	return bytes.Contains(bytes.ToLower(message), []byte("wants you to sign in with your "))
}

// complete reports whether the members that EIP-4361 requires are there.
func (s *SignIn) complete() bool {
	return s.URI != "" && s.Version == "1" && s.ChainID != "" && len(s.Nonce) >= 8 && isTime(s.IssuedAt) &&
		(s.ExpirationTime == "" || isTime(s.ExpirationTime)) && (s.NotBefore == "" || isTime(s.NotBefore))
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}

// parseSignIn reads
//
//	[scheme://]domain wants you to sign in with your … account:
//	address
//
//	statement
//
//	URI: …            and the other members, in this order
//
// where the members, or the statement with the empty line behind it or without that
// line, can be absent. No line is left over, and none is empty besides.
func parseSignIn(message, words string) *SignIn {
	head, rest, more := strings.Cut(message, "\n\n")
	first, address, ok := strings.Cut(head, "\n")
	site, named := strings.CutSuffix(first, words)
	if !ok || !named || address == "" || strings.Contains(address, "\n") {
		return nil
	}
	s := &SignIn{Domain: site, Address: address}
	if scheme, domain, has := strings.Cut(site, "://"); has {
		s.Scheme, s.Domain = scheme, domain
	}
	if s.Domain == "" || strings.ContainsAny(s.Domain, " /?#\t") || strings.Contains(site, "://") && s.Scheme == "" {
		return nil
	}
	if more && !s.body(rest) {
		return nil
	}
	return s
}

// body reads what stands behind the address: a statement, members, or both.
func (s *SignIn) body(text string) bool {
	if members, absent := strings.CutPrefix(text, "\n"); absent { // the statement's empty line alone
		return s.members(strings.Split(members, "\n"))
	}
	if first, _, _ := strings.Cut(text, "\n"); isMember(first) {
		return s.members(strings.Split(text, "\n"))
	}
	statement, members, more := strings.Cut(text, "\n\n")
	if s.Statement = statement; statement == "" || strings.Contains(statement, "\n") {
		return false
	}
	return !more || s.members(strings.Split(members, "\n"))
}

// memberNames are the members in their order.
var memberNames = []string{"URI", "Version", "Chain ID", "Nonce", "Issued At", "Expiration Time", "Not Before", "Request ID"}

func isMember(line string) bool {
	for _, name := range memberNames {
		if strings.HasPrefix(line, name+": ") {
			return true
		}
	}
	return line == "Resources:"
}

// members reads the lines of members, each at most once and in order.
func (s *SignIn) members(lines []string) bool {
	into := []*string{&s.URI, &s.Version, &s.ChainID, &s.Nonce, &s.IssuedAt, &s.ExpirationTime, &s.NotBefore, &s.RequestID}
	next := 0
	for i, line := range lines {
		if line == "Resources:" {
			return s.resources(lines[i+1:])
		}
		found := false
		for ; next < len(memberNames) && !found; next++ {
			if value, ok := strings.CutPrefix(line, memberNames[next]+": "); ok && value != "" {
				*into[next], found = value, true
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func (s *SignIn) resources(lines []string) bool {
	s.Resources = []string{}
	for _, line := range lines {
		value, ok := strings.CutPrefix(line, "- ")
		if !ok {
			return false
		}
		s.Resources = append(s.Resources, value)
	}
	return true
}

// Problem says why the sign-in is not for this signer, or names two sites; empty
// if neither. The signer may be none. The case of an address is not compared.
func (s *SignIn) Problem(signer chains.Party) string {
	return s.problem(signer, strings.EqualFold(signer.String(), s.Address))
}

// SolanaProblem is Problem for addresses in base58, where case counts.
func (s *SignIn) SolanaProblem(signer chains.Party) string {
	return s.problem(signer, signer.String() == s.Address)
}

func (s *SignIn) problem(signer chains.Party, ours bool) string {
	if !signer.IsNone() && !ours {
		return "the sign-in is for the account " + short(s.Address) + ", and " + signer.String() + " would sign it"
	}
	if s.URI == "" {
		return ""
	}
	uri, err := url.Parse(s.URI)
	if err != nil || uri.Host == "" || !sameSite(uri.Host, s.Domain) {
		return "the sign-in says that it is for " + short(s.Domain) + ", and its URI is " + short(s.URI)
	}
	return ""
}

// sameSite compares hosts, the port aside where one has none.
func sameSite(host, domain string) bool {
	if strings.EqualFold(host, domain) {
		return true
	}
	name := func(text string) string { before, _, _ := strings.Cut(text, ":"); return before }
	return (!strings.Contains(host, ":") || !strings.Contains(domain, ":")) && strings.EqualFold(name(host), name(domain))
}

func short(text string) string {
	const most = 100
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strconv.Quote(text)
}

// Fields shows the members that are there.
func (s *SignIn) Fields() []chains.Field {
	fields := []chains.Field{chains.Text("sign in at", s.Domain), chains.Text("account", s.Address)}
	for _, one := range []struct{ label, value string }{
		{"statement", s.Statement}, {"URI", s.URI}, {"chain id", s.ChainID}, {"nonce", s.Nonce}, {"issued at", s.IssuedAt},
		{"expiration time", s.ExpirationTime}, {"not before", s.NotBefore}, {"request id", s.RequestID},
	} {
		if one.value != "" {
			fields = append(fields, chains.Text(one.label, one.value))
		}
	}
	for _, resource := range s.Resources {
		fields = append(fields, chains.Text("resource", resource))
	}
	return fields
}

// Args are what a policy sees of a sign-in.
func (s *SignIn) Args() []chains.Arg {
	return []chains.Arg{{Name: "domain", Value: s.Domain}, {Name: "uri", Value: s.URI}, {Name: "chainId", Value: s.ChainID}, {Name: "statement", Value: s.Statement}}
}
