package walletpolicy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// imports are the descriptors of an array of Bitcoin Core.
type imports struct {
	all    []string
	branch map[bool]string // by internal
}

// read reads the array: Core's names for what importdescriptors takes and listdescriptors
// answers (src/wallet/rpc/backup.cpp).
func (i *imports) read(r *strictjson.Reader) error {
	i.branch = map[bool]string{}
	return r.Array(func(r *strictjson.Reader) error {
		var descriptor string
		var internal, active bool
		var other strictjson.Value
		err := r.Object(strictjson.Required("desc", &descriptor), strictjson.Optional("internal", &internal),
			strictjson.Optional("active", &active), strictjson.Optional("timestamp", &other),
			strictjson.Optional("range", &other),
			strictjson.Optional("next", &other), strictjson.Optional("next_index", &other),
			strictjson.Optional("label", &other))
		i.branch[internal], i.all = descriptor, append(i.all, descriptor)
		return err
	})
}

func (i *imports) policy(name string) (*Policy, error) {
	switch {
	case len(i.all) == 1:
		return readDescriptors([]byte(i.all[0]), name)
	case len(i.all) == 2 && len(i.branch) == 2:
		return readDescriptors([]byte(i.branch[false]+"\n"+i.branch[true]), name)
	case len(i.all) > 2:
		return nil, fmt.Errorf("%d descriptors: keep the two of the wallet to register, for receiving and for "+
			"change (\"internal\": true), and remove the others", len(i.all))
	}
	return nil, fmt.Errorf("%d descriptors: expected one with <0;1>/*, or two, of which the one of change has "+
		"\"internal\": true", len(i.all))
}

// readImports reads the argument of Bitcoin Core's importdescriptors, which 'wallets export
// --format core' prints.
func readImports(text []byte, name string) (*Policy, error) {
	var listed imports
	if err := strictjson.ReadValue(text, "JSON", listed.read); err != nil {
		return nil, err
	}
	return listed.policy(name)
}

// readListed reads the answer of Bitcoin Core's listdescriptors.
func readListed(text []byte, name string) (*Policy, error) {
	var listed imports
	var core string
	if err := strictjson.Read(text, "JSON", strictjson.Optional("wallet_name", &core),
		strictjson.Required("descriptors", listed.read)); err != nil {
		return nil, err
	}
	return listed.policy(cmp.Or(name, core))
}

// readSpecter reads the JSON that Specter Desktop, and after it others, export. Its descriptor
// has both branches, or /0/* alone: change is at /1/* then, which is what Specter derives
// (src/cryptoadvance/specter/wallet, merge_descriptors).
func readSpecter(text []byte, name string) (*Policy, error) {
	var label, descriptor string
	var other strictjson.Value
	if err := strictjson.Read(text, "JSON", strictjson.Required("descriptor", &descriptor),
		strictjson.Optional("label", &label),
		strictjson.Optional("blockheight", &other), strictjson.Optional("devices", &other)); err != nil {
		return nil, err
	}
	descriptor, err := wallet.CutChecksum(strings.TrimSpace(descriptor))
	if err != nil {
		return nil, err
	}
	name = cmp.Or(name, label)
	if !strings.Contains(descriptor, "/0/*") {
		return fromDescriptor(descriptor, name)
	}
	if strings.Contains(descriptor, "<") {
		return nil, errors.New("descriptor: some keys have both branches, others /0/* alone: all must have the same")
	}
	return readDescriptors([]byte(descriptor+"\n"+strings.ReplaceAll(descriptor, "/0/*", "/1/*")), name)
}

// refuseElectrum refuses Electrum's wallet file without repeating any of it.
func refuseElectrum([]byte, string) (*Policy, error) {
	return nil, errors.New("the text is Electrum's wallet file, which can hold secrets: write the policy " +
		`{"name","descriptor_template","keys_info"} instead, with each cosigner's [root_fingerprint/derivation]xpub`)
}

// branchesOf reads the path restrictions of a BSMS descriptor record: two branches.
func branchesOf(restrictions string) (receive, change string, ok bool) {
	receive, change, ok = strings.Cut(restrictions, ",")
	for _, branch := range []*string{&receive, &change} {
		step, begins := strings.CutPrefix(strings.TrimSpace(*branch), "/")
		step, ends := strings.CutSuffix(step, "/*")
		ok = ok && begins && ends && step != "" && strings.Trim(step, "0123456789") == ""
		*branch = step
	}
	return receive, change, ok
}

// readBSMS reads a descriptor record of BIP-129: the version, the descriptor, in which /** stands
// for the paths of the third line, and the first address, which must be the wallet's.
func readBSMS(text []byte, name string) (*Policy, error) {
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	switch {
	case lines[0] != "BSMS 1.0":
		return nil, fmt.Errorf("BSMS: version %q, expected \"BSMS 1.0\"", lines[0])
	case len(lines) == 5 && strings.HasPrefix(lines[2], "["):
		return nil, errors.New("BSMS: the text is the key record of one signer: expected the descriptor record, " +
			"which the coordinator makes of all")
	case len(lines) != 4:
		return nil, fmt.Errorf("BSMS: %d lines, a descriptor record has 4: version, descriptor, path restrictions "+
			"and first address", len(lines))
	}
	descriptor, err := wallet.CutChecksum(lines[1])
	if err != nil {
		return nil, fmt.Errorf("BSMS: %w", err)
	}
	receive, change, ok := branchesOf(lines[2])
	declared := ""
	switch {
	case ok:
		declared = "/<" + receive + ";" + change + ">/*"
		descriptor = strings.ReplaceAll(descriptor, "/**", declared)
	case lines[2] != "No path restrictions":
		return nil, fmt.Errorf("BSMS: path restrictions %q: expected two branches, receiving and change, such as "+
			"\"/0/*,/1/*\"", lines[2])
	case strings.Contains(descriptor, "/**"):
		return nil, errors.New("BSMS: the descriptor has /**, and no path restrictions that it stands for: expected " +
			"such as \"/0/*,/1/*\"")
	}
	p, err := fromDescriptor(descriptor, name)
	if err != nil {
		return nil, fmt.Errorf("BSMS: %w", err)
	}
	if err := p.checkBSMS(declared, lines[3]); err != nil {
		return nil, err
	}
	return p, nil
}

// checkBSMS compares the branches of all keys, unless none are declared, and the first address
// with a record's.
func (p *Policy) checkBSMS(declared, first string) error {
	for _, k := range p.template.keys {
		if declared != "" && k.steps() != declared {
			return fmt.Errorf("BSMS: key @%d has the branches %s, which are not the path restrictions", k.item,
				k.steps())
		}
	}
	addresses, err := p.firstAddresses()
	if err != nil {
		return err
	}
	// bech32 has two cases
	if !slices.Contains(addresses, first) && !slices.Contains(addresses, strings.ToLower(first)) {
		return fmt.Errorf("BSMS: the first address is %s, the record says %q: the record was altered, or is of "+
			"another wallet", addresses[0], first)
	}
	return nil
}

// firstAddresses returns the first receiving address on each network that the keys can be of.
func (p *Policy) firstAddresses() (all []string, err error) {
	networks := []*chaincfg.Params{&chaincfg.MainNetParams}
	if p.TestNetwork() {
		networks = []*chaincfg.Params{&chaincfg.TestNet3Params, &chaincfg.RegressionNetParams}
	}
	script, err := p.Script(false, 0)
	if err != nil {
		return nil, err
	}
	for _, network := range networks {
		_, addresses, _, err := txscript.ExtractPkScriptAddrs(script, network)
		if err != nil {
			return nil, err
		}
		for _, address := range addresses {
			all = append(all, address.EncodeAddress())
		}
	}
	return all, nil
}

// multisigFormats are the scripts that a multisig file names in "Format".
var multisigFormats = map[string]string{"P2WSH": "wsh(%s)", "P2SH-P2WSH": "sh(wsh(%s))", "P2WSH-P2SH": "sh(wsh(%s))",
	"P2SH": "sh(%s)"}

// readMultisigFile reads the multisig file that Coldcard defined, and that other coordinators
// write: lines of Name, Policy (2 of 3), Derivation and Format, and one of each key, with its
// fingerprint. Its keys are sorted in scripts. A derivation holds until the next; Electrum writes
// it as a comment.
func readMultisigFile(text []byte, name string) (*Policy, error) {
	once := map[string]string{} // Name, Policy and Format
	var path string             // from m on
	var keys, uses []string
	number := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		number++
		if derivation, ok := strings.CutPrefix(line, "# derivation:"); ok {
			line = "Derivation:" + derivation
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		field, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case !ok:
			// not repeated: it may be a secret
			return nil, fmt.Errorf("multisig file: line %d is not of the form \"Name: value\"", number)
		case field == "Derivation" && !strings.HasPrefix(value, "m"):
			return nil, fmt.Errorf("multisig file: Derivation: %q is not a path, expected such as m/48'/0'/0'/2'",
				value)
		case field == "Derivation":
			path = value
		case field == "Name" || field == "Policy" || field == "Format":
			if _, again := once[field]; again {
				return nil, fmt.Errorf("multisig file: %s appears twice", field)
			}
			once[field] = value
		case path == "":
			return nil, fmt.Errorf("multisig file: key %s has no line \"Derivation: m/…\" before it: add one, with "+
				"the path of the key in its signer", field)
		default:
			uses = append(uses, fmt.Sprintf("@%d/**", len(keys)))
			keys = append(keys, "["+field+path[1:]+"]"+value)
		}
	}
	format := multisigFormats[strings.ToUpper(once["Format"])]
	if format == "" {
		return nil, fmt.Errorf("multisig file: Format: %q is not P2WSH, P2SH-P2WSH or P2SH", once["Format"])
	}
	first, _, _ := strings.Cut(once["Policy"], " ")
	k, err := strconv.Atoi(first)
	if err != nil || once["Policy"] != fmt.Sprintf("%d of %d", k, len(keys)) {
		return nil, fmt.Errorf("multisig file: Policy: %q: the file has %d keys, expected such as \"2 of %d\"",
			once["Policy"], len(keys), len(keys))
	}
	return newPolicy(cmp.Or(name, once["Name"]),
		fmt.Sprintf(format, fmt.Sprintf("sortedmulti(%d,%s)", k, strings.Join(uses, ","))), keys)
}

// multisigKeys are the forms of keys that SLIP-132 defines for scripts of several keys.
var multisigKeys = map[string]struct {
	version [4]byte
	form    form
	text    string
	plain   [4]byte // xpub or tpub
}{
	"Ypub": {[4]byte{0x02, 0x95, 0xb4, 0x3f}, formShWSH, "sh(wsh(…))", chaincfg.MainNetParams.HDPublicKeyID},
	"Zpub": {[4]byte{0x02, 0xaa, 0x7e, 0xd3}, formWSH, "wsh(…)", chaincfg.MainNetParams.HDPublicKeyID},
	"Upub": {[4]byte{0x02, 0x42, 0x89, 0xef}, formShWSH, "sh(wsh(…))", chaincfg.TestNet3Params.HDPublicKeyID},
	"Vpub": {[4]byte{0x02, 0x57, 0x54, 0x83}, formWSH, "wsh(…)", chaincfg.TestNet3Params.HDPublicKeyID},
}

// slipText is the length of every key of SLIP-132. It is checked first, because the cost of decoding
// is quadratic in it.
const slipText = 111

// plainXPub converts a key of SLIP-132 to xpub… or tpub…, if the wallet has the script that its
// form says.
func plainXPub(text string, form form) (string, error) {
	if len(text) < 4 || !strings.HasSuffix(text[:4], "pub") || strings.ContainsRune("xt", rune(text[0])) {
		return text, nil
	}
	slip, ok := multisigKeys[text[:4]]
	switch {
	case !ok:
		return "", fmt.Errorf("%.4s… is a form of a key that signs alone (SLIP-132): convert it to xpub… or tpub…, "+
			"if it is the one for this wallet", text)
	case slip.form != form:
		return "", fmt.Errorf("%.4s… is a key for %s (SLIP-132), which this wallet is not: give its key, or convert "+
			"it to xpub… or tpub…", text, slip.text)
	}
	if len(text) != slipText {
		return "", fmt.Errorf("not an extended public key: %.4s… is mistyped or cut", text)
	}
	payload, first, err := base58.CheckDecode(text)
	if err != nil || len(payload) != 77 || [4]byte{first, payload[0], payload[1], payload[2]} != slip.version {
		return "", fmt.Errorf("not an extended public key: %.4s… is mistyped or cut", text)
	}
	return base58.CheckEncode(append(slip.plain[1:], payload[3:]...), slip.plain[0]), nil
}
