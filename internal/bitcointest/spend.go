package bitcointest

import (
	"bytes"
	"crypto/sha256"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/keystore"
)

// Spend is how an output is locked, with the records that an input needs to spend it.
type Spend struct {
	Script  []byte
	Records []Record
	Legacy  bool // needs the transaction that is spent, alone
}

// Input returns an input that spends an output locked so, with everything that proves
// its amount.
func (s Spend) Input(amount uint64, salt uint32) Input {
	return Input{
		Amount: amount, Script: s.Script, Records: s.Records, Salt: salt,
		Proof: true, Claim: !s.Legacy, Sighash: -1,
	}
}

// Output returns an output that is locked so.
func (s Spend) Output(amount uint64) Output { return Output{Amount: amount, Script: s.Script} }

// Nulldata returns an output script that carries text.
func Nulldata(text string) []byte {
	return append([]byte{txscript.OP_RETURN, byte(len(text))}, text...)
}

// P2PKH locks to a key's hash.
func P2PKH(pub keystore.PublicKey) Spend { return Spend{Script: keyHashScript(pub), Legacy: true} }

// P2PKHOf locks to the hash of a key in any form.
func P2PKHOf(key []byte) Spend {
	script := append([]byte{txscript.OP_DUP, txscript.OP_HASH160}, push(address.Hash160(key))...)
	return Spend{Script: append(script, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG), Legacy: true}
}

// P2PK locks to a key.
func P2PK(pub keystore.PublicKey) Spend {
	return Spend{Script: append(push(pub.Bytes()), txscript.OP_CHECKSIG), Legacy: true}
}

// P2WPKH locks to a key's hash, with a witness.
func P2WPKH(pub keystore.PublicKey) Spend {
	hash := pub.Hash160()
	return Spend{Script: append([]byte{txscript.OP_0}, push(hash[:])...)}
}

// P2SH locks to a script by its hash.
func P2SH(redeem []byte) Spend {
	return Spend{Script: scriptHash(redeem), Legacy: true, Records: []Record{{[]byte{psbt.InRedeemScript}, redeem}}}
}

// P2WSH locks to a script by its hash, with a witness.
func P2WSH(witness []byte) Spend {
	return Spend{Script: witnessScriptHash(witness), Records: []Record{{[]byte{psbt.InWitnessScript}, witness}}}
}

// Nested wraps a P2WPKH or P2WSH output in P2SH.
func Nested(inner Spend) Spend {
	return Spend{
		Script:  scriptHash(inner.Script),
		Records: append([]Record{{[]byte{psbt.InRedeemScript}, inner.Script}}, inner.Records...),
	}
}

// Multisig returns the script that m of the keys must sign.
func Multisig(m int, keys ...keystore.PublicKey) []byte {
	script := []byte{txscript.OP_1 - 1 + byte(m)}
	for _, key := range keys {
		script = append(script, push(key.Bytes())...)
	}
	return append(script, txscript.OP_1-1+byte(len(keys)), txscript.OP_CHECKMULTISIG)
}

// Leaf returns the leaf script that one key must sign.
func Leaf(pub keystore.PublicKey) []byte {
	x := pub.XOnly()
	return append(push(x[:]), txscript.OP_CHECKSIG)
}

// LeafMultisig returns the leaf script that m of the keys must sign.
func LeafMultisig(m int, keys ...keystore.PublicKey) []byte {
	var script []byte
	for i, key := range keys {
		x := key.XOnly()
		op := byte(txscript.OP_CHECKSIGADD)
		if i == 0 {
			op = txscript.OP_CHECKSIG
		}
		script = append(append(script, push(x[:])...), op)
	}
	return append(script, txscript.OP_1-1+byte(m), txscript.OP_NUMEQUAL)
}

// BIP86 locks to a key's taproot output without scripts, and names the key.
func BIP86(pub keystore.PublicKey) Spend {
	x := pub.XOnly()
	return Spend{
		Script:  taprootScript(x[:], nil),
		Records: []Record{{[]byte{psbt.InTapInternalKey}, x[:]}},
	}
}

// Taproot locks to an internal key with a tree of one or two leaf scripts.
func Taproot(internal []byte, scripts ...[]byte) Spend {
	return TaprootVersion(byte(txscript.BaseLeafVersion), internal, scripts...)
}

// TaprootVersion is Taproot with leaves of another version.
func TaprootVersion(version byte, internal []byte, scripts ...[]byte) Spend {
	hashes := make([][]byte, len(scripts))
	for i, script := range scripts {
		hash := txscript.NewTapLeaf(txscript.TapscriptLeafVersion(version), script).TapHash()
		hashes[i] = hash[:]
	}
	root := hashes[0]
	if len(hashes) == 2 {
		left, right := hashes[0], hashes[1]
		if bytes.Compare(left, right) > 0 {
			left, right = right, left
		}
		root = chainhash.TaggedHash(chainhash.TagTapBranch, left, right)[:]
	}
	spend := Spend{Script: taprootScript(internal, root), Records: []Record{
		{[]byte{psbt.InTapInternalKey}, internal}, {[]byte{psbt.InTapMerkleRoot}, root},
	}}
	for i, script := range scripts {
		control := append([]byte{version | parity(internal, root)}, internal...)
		for j := range hashes {
			if j != i {
				control = append(control, hashes[j]...)
			}
		}
		spend.Records = append(spend.Records, Record{
			append([]byte{psbt.InTapLeafScript}, control...), append(bytes.Clone(script), version),
		})
	}
	return spend
}

// NUMS is an internal key without a known secret (BIP-341).
var NUMS = []byte{
	0x50, 0x92, 0x9b, 0x74, 0xc1, 0xa0, 0x49, 0x54, 0xb7, 0x8b, 0x4b, 0x60, 0x35, 0xe9, 0x7a, 0x5e,
	0x07, 0x8a, 0x5a, 0x0f, 0x28, 0xec, 0x96, 0xd5, 0x47, 0xbf, 0xee, 0x9a, 0xce, 0x80, 0x3a, 0xc0,
}

func taprootScript(internal, root []byte) []byte {
	return append([]byte{txscript.OP_1}, push(tweaked(internal, root)[1:])...)
}

func parity(internal, root []byte) byte { return tweaked(internal, root)[0] & 1 }

// tweaked returns the output key in compressed form.
func tweaked(internal, root []byte) []byte {
	point, err := schnorr.ParsePubKey(internal)
	if err != nil {
		panic("bitcointest: internal key: " + err.Error())
	}
	return txscript.ComputeTaprootOutputKey(point, root).SerializeCompressed()
}

func push(data []byte) []byte { return append([]byte{byte(len(data))}, data...) }

func keyHashScript(pub keystore.PublicKey) []byte {
	hash := pub.Hash160()
	script := append([]byte{txscript.OP_DUP, txscript.OP_HASH160}, push(hash[:])...)
	return append(script, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
}

func scriptHash(script []byte) []byte {
	return append(append([]byte{txscript.OP_HASH160}, push(address.Hash160(script))...), txscript.OP_EQUAL)
}

func witnessScriptHash(script []byte) []byte {
	hash := sha256.Sum256(script)
	return append([]byte{txscript.OP_0}, push(hash[:])...)
}
