package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/secp256k1"
	"github.com/countersign-dev/countersign/keystore"
)

// fate is what becomes of an output's value.
type fate uint8

const (
	spendable   fate = iota // by its owner
	burned                  // never by anyone
	upForGrabs              // by anyone, or the script does not say by whom
	uncommitted             // a signature leaves the output open
	instructs               // the output is an instruction to a protocol of tokens
	unaccounted             // this output, and those behind it, are more than there are effects for
)

// fateOf returns who can spend an output, and why if its owner cannot, as far as its script and
// what the PSBT says about it tell. A script of no known form counts as spendable by anyone: nodes
// do not relay it.
func fateOf(out *psbt.Output) (fate, string) {
	script := out.Script
	switch classify(script) {
	case p2pkh, p2wpkh, p2shUnknown, p2wsh:
		switch program := firstPush(script); {
		case len(bytes.Trim(program, "\x00")) == 0:
			return burned, "a hash of zeros: no key or script is known that has it"
		case slices.Contains(spelled, string(program)):
			return burned, "its address spells words: no key or script is known that has its hash"
		}
	case p2tr:
		if !secp256k1.OnCurve([32]byte(script[2:])) {
			return burned, "its output key is not a point of the curve"
		}
	case p2pk, bareMultisig:
		if f, why := keysFate(script); f != spendable {
			return f, why
		}
	case p2a:
		return upForGrabs, "pay to anchor: anyone can spend it"
	case unknownWitness:
		if script[0] == txscript.OP_0 {
			return burned, "a witness program of version 0 that is neither P2WPKH nor P2WSH"
		}
		return upForGrabs, "a witness program that has no rules yet: anyone can spend it"
	default:
		if txscript.IsUnspendable(script) {
			return burned, "it can never be spent"
		}
		return upForGrabs, "a script of no known form: anyone may be able to spend it, or no one"
	}
	if known, ok := famous()[string(script)]; ok {
		return known.fate, known.why
	}
	return fateWithin(out)
}

// fateWithin is fateOf by the scripts that the PSBT has of an output: a redeem or witness script
// with its hash, or leaves.
func fateWithin(out *psbt.Output) (fate, string) {
	code := outputCode(out)
	switch kind := classify(code); {
	case code == nil:
	case kind == p2pk, kind == bareMultisig, kind == p2pkh, kind == p2wpkh:
		return fateOf(&psbt.Output{Script: code})
	case txscript.IsUnspendable(code):
		return burned, "its script can never be spent"
	case !asksForSignature(code):
		return upForGrabs, "its script asks for no signature"
	}
	for leaf := range psbt.TapLeaves(out.Value(psbt.OutTapTree)) {
		if classify(out.Script) == p2tr && (txscript.ScriptHasOpSuccess(leaf) ||
			!asksForSignature(leaf) && !txscript.IsUnspendable(leaf)) {
			return upForGrabs, "one of its leaf scripts asks for no signature"
		}
	}
	return spendable, ""
}

// asksForSignature reports whether a script has an opcode that verifies a signature. Without one,
// it can be spent by anyone who knows it, and the preimages in it.
func asksForSignature(script []byte) bool {
	return hasOpcode(script, txscript.OP_CHECKSIG, txscript.OP_CHECKSIGVERIFY, txscript.OP_CHECKMULTISIG,
		txscript.OP_CHECKMULTISIGVERIFY, txscript.OP_CHECKSIGADD)
}

// famousSecrets is how many secrets are famous, from 1: those of the examples in BIP-173, BIP-350
// and tutorials are among them. Thieves watch their addresses.
const famousSecrets = 16

// famous are the output scripts of keys that everyone has, or no one can have: the point H of
// BIP-341, as the output key or as the internal key without a script (BIP-86). So are the hashes of
// OP_TRUE.
var famous = sync.OnceValue(func() map[string]outcome {
	scripts := map[string]outcome{}
	add := func(script []byte, fate fate, why string) { scripts[string(script)] = outcome{fate: fate, why: why} }
	taproot := func(x []byte) []byte { return append([]byte{txscript.OP_1, 32}, x...) }
	for n := byte(1); n <= famousSecrets; n++ {
		_, public := btcec.PrivKeyFromBytes([]byte{n})
		pub, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, public.SerializeCompressed())
		if err != nil {
			panic(err) // a point of the curve
		}
		why := fmt.Sprintf("the secret of its key is the number %d, which anyone can guess", n)
		own, _ := keyScripts(pub)
		for _, s := range own {
			add(s.script, upForGrabs, why)
		}
		x, uncompressed := pub.XOnly(), pub.Uncompressed()
		alone := append(append([]byte{33}, public.SerializeCompressed()...), txscript.OP_CHECKSIG)
		add(taproot(x[:]), upForGrabs, why)
		add(p2pkhScript([20]byte(address.Hash160(uncompressed[:]))), upForGrabs, why)
		add(alone, upForGrabs, why)
		add(p2wshScript(alone), upForGrabs, why)
	}
	open := []byte{txscript.OP_TRUE}
	for _, code := range [][]byte{open, p2wshScript(open)} {
		add(p2shScript([20]byte(address.Hash160(code))), upForGrabs, "its script is OP_TRUE")
	}
	add(p2wshScript(open), upForGrabs, "its script is OP_TRUE")
	const noSecret = "no one knows the secret of its key, which is the point H of BIP-341"
	tweaked, _ := secp256k1.OutputKey(secp256k1.Unspendable, nil)
	add(taproot(secp256k1.Unspendable[:]), burned, noSecret)
	add(taproot(tweaked.X[:]), burned, noSecret)
	return scripts
})

// spelled are the hashes of addresses that were written, not derived, to burn bitcoins:
// 1BitcoinEaterAddressDontSendf59kuE, and those of the proofs of burn that Counterparty and
// Chancecoin began with, 1CounterpartyXXXXXXXXXXXXXXXUWLpVr and 1ChancecoinXXXXXXXXXXXXXXXXXZELUFD.
var spelled = []string{
	"\x75\x9d\x66\x77\x09\x1e\x97\x3b\x9e\x9d\x99\xf1\x9c\x68\xfb\xf4\x3e\x3f\x05\xf9",
	"\x81\x88\x95\xf3\xdc\x2c\x17\x86\x29\xd3\xd2\xd8\xfa\x3e\xc4\xa3\xf8\x17\x98\x21",
	"\x80\x56\x39\xc1\x81\x49\xc3\x75\xa9\x77\x30\x0c\xd0\x82\x1b\xbb\x97\x31\x51\x55",
}

// keysFate is fateOf for P2PK and multisig scripts, which are burned if fewer of their
// keys are points of the curve than must sign.
func keysFate(script []byte) (fate, string) {
	need, points := 1, 0
	if _, m, err := txscript.CalcMultiSigStats(script); err == nil {
		need = m
	}
	pushes(script, func(_ byte, key []byte) bool {
		if _, err := btcec.ParsePubKey(key); err == nil {
			points++
		}
		return false
	})
	if points < need {
		return burned, fmt.Sprintf("%d of its keys must sign, %d are points of the curve", need, points)
	}
	return spendable, ""
}

// outputCode returns the script whose hash an output is locked to, if the PSBT has that script.
func outputCode(out *psbt.Output) []byte {
	script := out.Script
	if classify(script) == p2shUnknown {
		redeem := out.Value(psbt.OutRedeemScript)
		if !bytes.Equal(address.Hash160(redeem), script[2:22]) {
			return nil
		}
		script = redeem
		if classify(script) != p2wsh {
			return script
		}
	}
	if classify(script) != p2wsh {
		return nil
	}
	witness := out.Value(psbt.OutWitnessScript)
	if hash := sha256.Sum256(witness); !bytes.Equal(hash[:], script[2:]) {
		return nil
	}
	return witness
}
