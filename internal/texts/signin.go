package texts

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// signIn is a request to sign in with an address: Sign-In with Ethereum (EIP-4361) or
// Sign-In with Solana (SIWS). Absent members are empty.
type signIn struct {
	Scheme    string // of the site, such as https
	Domain    string
	Address   string
	Statement string
	members   [len(memberNames)]string
	Resources []string // nil if the text has no list of them

	by *Standard
}

// The members of a sign-in, in order.
const (
	memberURI = iota
	memberVersion
	memberChainID
	memberNonce
	memberIssuedAt
	memberExpirationTime
	memberNotBefore
	memberRequestID
)

var memberNames = [...]string{"URI", "Version", "Chain ID", "Nonce", "Issued At",
	"Expiration Time", "Not Before", "Request ID"}

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
//	URI: …            and the other members, in order unless the standard takes any
//
// The members may be absent, and so may the statement, with or without the empty line
// that follows it. No other line may be empty or left over.
func parseSignIn(message string, by *Standard) *signIn {
	head, rest, hasBody := strings.Cut(message, "\n\n")
	first, address, ok := strings.Cut(head, "\n")
	site, hasWords := strings.CutSuffix(first, by.words)
	if !ok || !hasWords || address == "" || strings.Contains(address, "\n") {
		return nil
	}
	s := &signIn{Domain: site, Address: address, by: by}
	if scheme, domain, ok := strings.Cut(site, "://"); ok {
		s.Scheme, s.Domain = scheme, domain
	}
	if strings.Contains(site, "://") && !uriScheme.MatchString(s.Scheme) || hasBody && !s.body(rest) || !s.valid() {
		return nil
	}
	return s
}

// body reads what follows the address: a statement, members, or both.
func (s *signIn) body(text string) bool {
	if members, absent := strings.CutPrefix(text, "\n"); absent { // only the empty line of the statement
		return s.readMembers(members)
	}
	first, _, _ := strings.Cut(text, "\n")
	isMember := func(name string) bool { return strings.HasPrefix(first, name+": ") }
	if first == "Resources:" || slices.ContainsFunc(memberNames[:], isMember) {
		return s.readMembers(text)
	}
	statement, members, hasMembers := strings.Cut(text, "\n\n")
	if s.Statement = statement; statement == "" || strings.Contains(statement, "\n") {
		return false
	}
	return !hasMembers || s.readMembers(members)
}

// readMembers reads the lines of members: each at most once, and in order if the standard has one.
func (s *signIn) readMembers(text string) bool {
	next, lines := 0, strings.Split(text, "\n")
	for i, line := range lines {
		if line == "Resources:" {
			return s.resources(lines[i+1:])
		}
		if s.by.anyOrder {
			next = 0
		}
		matched := false
		for ; next < len(memberNames) && !matched; next++ {
			if value, ok := strings.CutPrefix(line, memberNames[next]+": "); ok && value != "" &&
				s.members[next] == "" {
				s.members[next], matched = value, true
			}
		}
		if !matched {
			return false
		}
	}
	return true
}

func (s *signIn) resources(lines []string) bool {
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

// problem says why the sign-in is not for this signer, or that it names two sites. It
// returns "" if neither is the case. The signer may be none.
func (s *signIn) problem(signer chains.Party) string {
	same := signer.String() == s.Address || s.by.folded && strings.EqualFold(signer.String(), s.Address)
	if !signer.IsNone() && !same {
		return "the sign-in is for the account " + quoted(s.Address) + ", but " + signer.String() + " would sign it"
	}
	if s.members[memberURI] != "" && !s.isAbout() {
		return "the sign-in is for " + quoted(s.Domain) + ", but its URI is " + quoted(s.members[memberURI])
	}
	return ""
}

// isAbout reports whether the URI is of the site: its host, a host above or below it, or a
// name without any host.
func (s *signIn) isAbout() bool {
	uri, err := url.Parse(s.members[memberURI])
	if err != nil {
		return false
	}
	if uri.Host == "" {
		return strings.EqualFold(uri.Scheme, "urn") || strings.EqualFold(uri.Scheme, "did")
	}
	return sameSite(uri.Host, s.Domain)
}

// sameSite compares two hosts case-insensitively, of which one may be below the other, and
// their ports if both have one.
func sameSite(host, domain string) bool {
	host, domain = strings.ToLower(host), strings.ToLower(domain)
	if host == domain {
		return true
	}
	if strings.HasPrefix(host, "[") || strings.HasPrefix(domain, "[") { // IPv6
		return false
	}
	host, port, hasPort := strings.Cut(host, ":")
	domain, domainPort, domainHasPort := strings.Cut(domain, ":")
	if hasPort && domainHasPort && port != domainPort {
		return false
	}
	return host == domain || strings.Contains(domain, ".") && strings.HasSuffix(host, "."+domain) ||
		strings.Contains(host, ".") && strings.HasSuffix(domain, "."+host)
}

// quoted quotes text of the input for an error.
func quoted(text string) string { return strconv.Quote(plaintext.Shorten(text, 100)) }

func (s *signIn) fields() []chains.Field {
	fields := []chains.Field{chains.Text("sign in at", s.Domain), chains.Text("account", s.Address)}
	if s.Statement != "" {
		fields = append(fields, chains.Text("statement", s.Statement))
	}
	for i, value := range s.members {
		if label := memberNames[i]; value != "" && i != memberVersion {
			if i != memberURI {
				label = strings.ToLower(label)
			}
			fields = append(fields, chains.Text(label, value))
		}
	}
	for _, resource := range s.Resources {
		fields = append(fields, chains.Text("resource", resource))
	}
	return fields
}
