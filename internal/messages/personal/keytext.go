package personal

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// keyText is a text whose signature an application hashes into a private key: the
// signature is as good as the key.
type keyText struct {
	of    string // whose key
	text  string // as plainWords returns it
	exact bool   // nothing follows the text
}

// keyTexts are the known ones, as the SDKs of the applications send them.
var keyTexts = []keyText{
	{of: "zkSync Lite", text: "access zksync account."},                                     // matter-labs/zksync, sdk/zksync.js
	{of: "ZKSwap", text: "access zkswap account."},                                          // l2beat's zkspace SDK, okx/go-wallet-sdk
	{of: "Umbra", text: "sign this message to access your umbra account."},                  // ScopeLift/umbra-protocol, umbra-js
	{of: "Loopring", text: "sign this message to access loopring exchange:"},                // Loopring/loopring_sdk, KEY_MESSAGE
	{of: "Fluidkey", text: "sign this message to generate your fluidkey"},                   // fluidkey/fluidkey-stealth-account-kit
	{of: "Fluidkey", text: "welcome to fluidkey! please sign this message"},                 // the same
	{of: "Aztec", text: "sign this message to generate your aztec privacy key."},            // AztecProtocol/aztec-connect, sdk
	{of: "Aztec", text: "sign this message to generate your aztec spending key."},           // the same
	{of: "zkLink", text: "sign this message to create a key to interact with zklink's"},     // zkLinkProtocol/zklink_sdk
	{of: "zkLink", text: "create zklink's layer2 key."},                                     // the same
	{of: "XMTP", text: "xmtp : enable identity"},                                            // xmtp/xmtp-js, EncryptedPrivateKeyBundle: it encrypts the keys
	{of: "Push Protocol", text: "enable push profile"},                                      // push-protocol's SDKs: the same
	{of: "3Box", exact: true, text: "this app wants to view and update your 3box profile."}, // 3box and Ceramic's 3id-connect, legacySeedCreate
	{of: "3ID", exact: true, text: "allow this account to control your identity"},           // 3id-connect: the seed
	{of: "3ID", exact: true, text: "add this account as a ceramic authentication method"},   // the same
	{of: "Hinkal", exact: true, text: "login to hinkal protocol"},                           // @hinkal/common, UserKeys
	{of: "Hinkal", exact: true, text: "login to hinkal's private transfer app"},             // the same
	{of: "Myria", text: "message request signature:", exact: true},                          // MyriaPlatform/myria-ts-samples
	{of: "StarkEx, as Immutable X uses it", exact: true, // immutable's SDKs; with a nonce below, the text is another request
		text: "only sign this request if you've initiated an action with immutable x."},
}

// typedKeyTexts are actions in typed data that are key texts: of dYdX 3 and 4
// (dydxprotocol/v3-client, v4-clients), of Paradex (tradeparadex/paradex-py) and of ApeX
// (apexpro's SDK, sign_off_chain_action.py). dYdX and ApeX also send the first ones as a personal
// message, in JSON or in lines.
var typedKeyTexts = []string{"dydx stark key", "dydx onboarding", "dydx chain onboarding", "stark key", "l2 key"}

// keyTypes are types of typed data whose signature is a key, whatever the message says: that of
// Extended (x10xchange/python_sdk, get_key_derivation_struct_to_sign).
var keyTypes = map[string]string{"AccountCreation(int8 accountIndex,address wallet,bool tosAccepted)": "Extended"}

// KeyOfType returns whose key a signature over typed data of a type becomes, empty if none that
// is known.
func KeyOfType(encoded string) string { return keyTypes[encoded] }

// phrase is a pattern of words, and words of which a text that matches has one of each list:
// most texts have none, and looking for them costs little.
type phrase struct {
	pattern *plaintext.Pattern
	has     [][]string
}

// in reports whether a text, as plainWords returns it, has the phrase.
func (p *phrase) in(words []byte) bool {
	for _, group := range p.has {
		if !slices.ContainsFunc(group, func(word string) bool { return bytes.Contains(words, []byte(word)) }) {
			return false
		}
	}
	return p.pattern.MatchString(string(words))
}

// keyPhrases are the words that such texts share, in one sentence.
var keyPhrases = []phrase{
	{plaintext.NewPattern(`\bsign(ing|ature)?\b[^.!?]{0,80}\b(generat|deriv|creat|recover|restor|unlock|access)(e|es|ing)?\b[^.!?]{0,60}` +
		`\b(private|secret|spending|viewing|stealth|stark|starkex|starknet|encryption|decryption|privacy|trading|layer ?2|l2|zk|shielded)\b[^.!?]{0,40}\b(keys?|keypairs?|seeds?)\b`),
		[][]string{{"sign"}, {"key", "seed"}}},
	{plaintext.NewPattern(`\b(key|seed|wallet|address) derivation\b`), [][]string{{" derivation"}}},
	{plaintext.NewPattern(`\bsign(ing)?\b[^.!?]{0,40}\b(deriv|generat)(e|es|ing) (a|an|your|the)\b[^.!?]{0,40}\b(keys?|keypairs?|seeds?|encryption|stealth)\b`),
		[][]string{{"sign"}, {"deriv", "generat"}}},
	{plaintext.NewPattern(`\bonly sign this message (for|on|with|within) a trusted (client|app|application|site|website|platform)\b`), [][]string{{"only sign this message "}}},
}

// notKeys are the words of texts that name a public key, or ask a server for a key: their
// signature is none.
var notKeys = plaintext.NewPattern(`\b(pubkeyx?|public key|api[ -]keys?)\b`)

// maxKeyText is the length of the longest text that is looked at: the known ones have a
// few hundred bytes, and a key follows from exactly one text.
const maxKeyText = 2048

// DerivesKey returns whose key a signature over the text becomes, empty if none that is
// known. A phrase alone counts too.
func DerivesKey[T string | []byte](text T) string {
	if len(text) > maxKeyText {
		return ""
	}
	var room [usualWords]byte
	words := appendPlainWords(room[:0], text)
	for i := range keyTexts {
		k := &keyTexts[i]
		if bytes.HasPrefix(words, []byte(k.text)) && (!k.exact || len(words) == len(k.text)) {
			return k.of
		}
	}
	quotes, lines := bytes.IndexByte(words, '"') >= 0, bytes.Contains(words, []byte("action: "))
	for _, action := range typedKeyTexts {
		if string(words) == action || quotes && bytes.Contains(words, []byte(`"`+action+`"`)) || lines && bytes.Contains(words, []byte("action: "+action+" ")) {
			return `the application with the action "` + action + `"`
		}
	}
	if !bytes.Contains(words, []byte("sign")) && !bytes.Contains(words, []byte(" derivation")) {
		return "" // each phrase has one of these words
	}
	for i := range keyPhrases {
		if keyPhrases[i].in(words) && !notKeys.MatchString(string(words)) {
			return "the application"
		}
	}
	return ""
}

// usualWords is the length of most texts, which are written on the stack.
const usualWords = 512

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// appendPlainWords appends a text in lower case, with one space between words, a simple
// apostrophe for each kind of it, and without what shows nothing.
func appendPlainWords[T string | []byte](words []byte, text T) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < utf8.RuneSelf {
			if c != ' ' || len(words) > 0 && words[len(words)-1] != ' ' {
				words = append(words, lowerASCII(c))
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		i += size
		switch {
		case r == '’' || r == '‘' || r == 'ʼ':
			words = append(words, '\'')
		case unicode.Is(unicode.Cf, r):
		case !unicode.IsSpace(r):
			words = utf8.AppendRune(words, unicode.ToLower(r))
		case len(words) > 0 && words[len(words)-1] != ' ':
			words = append(words, ' ')
		}
	}
	return bytes.TrimSuffix(words, []byte(" "))
}
