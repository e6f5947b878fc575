package texts

import (
	"net/url"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/ethereum/go-ethereum/common"
)

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

// valid reports whether the members that are present follow the grammar, and those are
// present that the standard requires. A nonce may also have dashes and underscores, which
// is a hazard.
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
