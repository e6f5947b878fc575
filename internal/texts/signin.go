package texts

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

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

// said returns what the sign-in says in its site's own words: what goes to the signer is no order.
func (s *signIn) said() string {
	more, _ := url.QueryUnescape(strings.Join(append(s.Resources, s.members[memberRequestID]), ". ")) // by the grammar
	return strings.ReplaceAll(s.Statement+". "+more, s.Address, "this wallet")
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

// Standard is what distinguishes the sign-ins of the chains.
type Standard struct {
	name     string
	words    string // how the first line ends
	address  func(string) bool
	folded   bool // addresses are the same in any case
	complete bool // the members that EIP-4361 requires are there
	anyOrder bool // of the members, but the resources, which are the last
	chainID  *plaintext.Pattern
}

// The standards. No standard is Tron's: its wallets take the text of EIP-4361 with another
// address. SIWS has the order of EIP-4361, but the client of Supabase (@supabase/auth-js,
// signInWithWeb3) writes the version before the URI, and the nonce behind the times.
var (
	EIP4361 = &Standard{name: "EIP-4361", words: " wants you to sign in with your Ethereum account:", folded: true,
		complete: true, chainID: decimal, address: isEthereumAddress}
	EIP4361Tron = &Standard{name: "EIP-4361 with an address of Tron",
		words:    " wants you to sign in with your TRON account:",
		complete: true, chainID: tronChain, address: tronAddress.MatchString}
	SIWS = &Standard{name: "SIWS", words: " wants you to sign in with your Solana account:", anyOrder: true,
		chainID: solanaChain, address: base58Text.MatchString}
)

// hostLabel matches a label of a host name. _ is not in RFC 1123, but in names that browsers open.
const hostLabel = `[0-9A-Za-z_]([0-9A-Za-z_-]*[0-9A-Za-z_])?`

func isEthereumAddress(text string) bool {
	return strings.HasPrefix(text, "0x") && common.IsHexAddress(text)
}

// The members by EIP-4361's ABNF and the parts of RFC 3986 that it takes.
var (
	decimal     = plaintext.NewPattern(`^[0-9]+$`)
	tronChain   = plaintext.NewPattern(`^(0x[0-9a-fA-F]+|[0-9]+)$`)
	solanaChain = plaintext.NewPattern(`^(solana:)?[0-9A-Za-z]+$`) // a name, or the id of CAIP-2
	tronAddress = plaintext.NewPattern(`^T[1-9A-HJ-NP-Za-km-z]{33}$`)
	base58Text  = plaintext.NewPattern(`^[1-9A-HJ-NP-Za-km-z]+$`)
	nonce       = plaintext.NewPattern(`^[0-9A-Za-z]{8,}$`)
	looseNonce  = plaintext.NewPattern(`^[0-9A-Za-z_-]{8,}$`)
	uuidText    = plaintext.NewPattern(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
	requestID   = plaintext.NewPattern(`^([0-9A-Za-z._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*$`)
	uriText     = plaintext.NewPattern(`^[A-Za-z][0-9A-Za-z+.-]*:([0-9A-Za-z._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$`)
	uriScheme   = plaintext.NewPattern(`^[A-Za-z][0-9A-Za-z+.-]*$`)
	domainText  = plaintext.NewPattern(`^(` + hostLabel + `(\.` + hostLabel + `)*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)
)

func isURI(text string) bool {
	_, err := url.Parse(text)
	return err == nil && uriText.MatchString(text)
}

// valid reports whether the members that are present follow the grammar, and those are present that
// the standard requires. A nonce may also have dashes and underscores, which is a hazard.
func (s *signIn) valid() bool {
	for i, ok := range [len(memberNames)]func(string) bool{memberURI: isURI,
		memberVersion: func(text string) bool { return text == "1" },
		memberChainID: s.by.chainID.MatchString, memberNonce: looseNonce.MatchString, memberIssuedAt: isTime,
		memberExpirationTime: isTime, memberNotBefore: isTime, memberRequestID: requestID.MatchString} {
		value, required := s.members[i], s.by.complete && i <= memberIssuedAt
		if value == "" && required || value != "" && !ok(value) {
			return false
		}
	}
	notURI := func(resource string) bool { return !isURI(resource) }
	return !slices.ContainsFunc(s.Resources, notURI) && s.by.address(s.Address) && domainText.MatchString(s.Domain)
}
