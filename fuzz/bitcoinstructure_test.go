package fuzz

import (
	"bytes"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/bitcointest"
	"github.com/countersign-dev/countersign/internal/psbt"
	"github.com/countersign-dev/countersign/internal/testkit/tape"
	"github.com/countersign-dev/countersign/keystore"
)

// FuzzBitcoinStructure generates PSBTs by the rules of BIP-174 and BIP-370, with
// inputs, outputs and records that the fuzzer chooses, then breaks one rule. Valid
// ones are read as btcd reads them and signed without changing their bytes; broken
// ones are refused.
func FuzzBitcoinStructure(f *testing.F) {
	addChoices(f)
	key := bitcoinKey(f)
	chain := bitcoin.New(bitcoin.Limits{})
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > maxChoices {
			return
		}
		choose := tape.New(choices)
		made := choosePSBT(choose, key.PublicKey())
		raw := made.Encode()
		packet, err := psbt.Read(raw)
		if err != nil {
			t.Fatalf("%x is refused: %v", raw, err)
		}
		checkPSBT(t, packet, raw)
		if !bytes.Equal(packet.Unsigned(), made.Unsigned()) {
			t.Fatalf("%x is another transaction than was made", packet.Unsigned())
		}
		checkBitcoinSigned(t, chain, key, raw)
		checkBrokenPSBT(t, choose, made)
	})
}

// checkPSBT checks that an accepted PSBT has no duplicate keys, is written back
// unchanged, and is read alike by btcd.
func checkPSBT(t *testing.T, packet *psbt.Packet, raw []byte) {
	t.Helper()
	maps := []psbt.Map{packet.Global}
	for i := range packet.Inputs {
		maps = append(maps, packet.Inputs[i].Map)
	}
	for i := range packet.Outputs {
		maps = append(maps, packet.Outputs[i].Map)
	}
	for _, one := range maps {
		seen := map[string]bool{}
		for _, record := range one.Records {
			if seen[string(record.Key)] {
				t.Fatalf("key %x stands twice in a map", record.Key)
			}
			seen[string(record.Key)] = true
		}
	}
	if !bytes.Equal(packet.Encode(), raw) {
		t.Fatal("written back differently")
	}
	// btcd reads version 0 and takes no transaction without inputs.
	if packet.Version == psbt.Version0 && len(packet.Inputs) > 0 {
		compareWithBTCD(t, packet)
	}
}

// checkBrokenPSBT breaks one rule and checks that the PSBT is refused.
func checkBrokenPSBT(t *testing.T, choose *tape.Tape, made bitcointest.PSBT) {
	t.Helper()
	broken, rule := breakPSBT(choose, made)
	packet, err := psbt.Read(broken)
	switch {
	case err == nil && rule != "":
		t.Fatalf("%s: %x is accepted", rule, broken)
	case err == nil:
		checkPSBT(t, packet, broken)
	}
}

// choosePSBT generates a PSBT with one to three inputs and outputs.
func choosePSBT(choose *tape.Tape, pub keystore.PublicKey) bitcointest.PSBT {
	made := bitcointest.PSBT{
		Version: tape.Pick[uint32](choose, psbt.Version0, psbt.Version2), TxVersion: tape.Pick[uint32](choose, 2, 1, 3),
		LockTime: tape.Pick[uint32](choose, 0, 840_000, 1_777_000_000), Unsorted: choose.OneIn(3),
	}
	for i := range 1 + choose.Intn(3) {
		in := chooseSpend(choose, pub).Input(1_000+choose.Uint64()%1_000_000, uint32(i))
		in.Sighash = tape.Pick[int64](choose, -1, 1, 0, 2, 3, 0x81, 0x83, 77)
		in.Sequence = tape.Pick[uint32](choose, 0xffffffff, 0xfffffffd, 1)
		in.Proof, in.Claim = !choose.OneIn(4), in.Claim != choose.OneIn(4)
		if choose.OneIn(5) {
			in.Claimed = choose.Uint64()
		}
		in.Records = append(slices.Clone(in.Records), chooseRecords(choose, inputRecords(pub))...)
		made.Inputs = append(made.Inputs, in)
	}
	for range 1 + choose.Intn(3) {
		out := chooseSpend(choose, pub).Output(choose.Uint64() % 3_000_000)
		out.Records = chooseRecords(choose, outputRecords(pub))
		made.Outputs = append(made.Outputs, out)
	}
	made.Global = chooseRecords(choose, []bitcointest.Record{{Key: []byte{0x70}}, {Key: []byte{psbt.Proprietary, 1, 'x', 0}}})
	return made
}

// chooseSpend chooses how an output is locked.
func chooseSpend(choose *tape.Tape, pub keystore.PublicKey) bitcointest.Spend {
	x, multisig := pub.XOnly(), bitcointest.Multisig(1, pub, pub)
	return tape.Pick(choose,
		bitcointest.P2WPKH(pub), bitcointest.P2PKH(pub), bitcointest.P2PK(pub), bitcointest.P2SH(multisig), bitcointest.P2WSH(multisig),
		bitcointest.Nested(bitcointest.P2WSH(multisig)), bitcointest.Nested(bitcointest.P2WPKH(pub)), bitcointest.BIP86(pub),
		bitcointest.Taproot(x[:], bitcointest.Leaf(pub)), bitcointest.Taproot(bitcointest.NUMS, bitcointest.Leaf(pub), bitcointest.LeafMultisig(1, pub, pub)),
		bitcointest.Spend{Script: bitcointest.Nulldata("text")}, bitcointest.Spend{Script: choose.Bytes(choose.Intn(40))},
	)
}

// inputRecords are records that an input may have in addition to those of its spend.
func inputRecords(pub keystore.PublicKey) []bitcointest.Record {
	origin := []byte{1, 2, 3, 4, 84, 0, 0, 0x80}
	return []bitcointest.Record{
		{Key: append([]byte{psbt.InBIP32Derivation}, pub.Bytes()...), Value: origin},
		{Key: append([]byte{psbt.InHash160}, make([]byte, 20)...)}, {Key: append([]byte{psbt.InSHA256}, make([]byte, 32)...)},
		{Key: []byte{psbt.InPORCommitment}, Value: []byte("mine")}, {Key: []byte{psbt.Proprietary, 1, 'x', 0}},
		{Key: []byte{0x70}}, {Key: []byte{0xfd, 0xfd, 0x00}, Value: []byte{0}},
	}
}

func outputRecords(pub keystore.PublicKey) []bitcointest.Record {
	x := pub.XOnly()
	return []bitcointest.Record{
		{Key: append([]byte{psbt.OutBIP32Derivation}, pub.Bytes()...), Value: []byte{1, 2, 3, 4}},
		{Key: []byte{psbt.OutTapInternalKey}, Value: x[:]}, {Key: []byte{psbt.OutRedeemScript}, Value: []byte{0x51}},
		{Key: []byte{psbt.Proprietary, 1, 'x', 0}}, {Key: []byte{0x70}},
	}
}

// chooseRecords returns some of the records, in some order.
func chooseRecords(choose *tape.Tape, from []bitcointest.Record) (chosen []bitcointest.Record) {
	for range choose.Intn(len(from) + 1) {
		i := choose.Intn(len(from))
		record := from[i]
		if len(record.Value) == 0 {
			record.Value = choose.Bytes(choose.Intn(9))
		}
		chosen = append(chosen, record)
		from = slices.Delete(slices.Clone(from), i, i+1)
	}
	return chosen
}

// breakPSBT breaks a rule and names it, or changes a byte, which may not break any.
func breakPSBT(choose *tape.Tape, made bitcointest.PSBT) (broken []byte, rule string) {
	raw := made.Encode()
	in := &made.Inputs[choose.Intn(len(made.Inputs))]
	add := func(key []byte, value []byte) []byte {
		in.Records = append(slices.Clone(in.Records), bitcointest.Record{Key: key, Value: value})
		return made.Encode()
	}
	switch choose.Intn(8) {
	case 0:
		key := []byte{0x71, choose.Byte()}
		add(key, choose.Bytes(2))
		return add(key, choose.Bytes(2)), "a key twice"
	case 1:
		return add([]byte{tape.Pick[byte](choose, psbt.InRedeemScript, psbt.InFinalScriptSig, psbt.InTapInternalKey), 0xaa}, make([]byte, 32)), "key data where there is none"
	case 2:
		return add([]byte{psbt.InTapMerkleRoot}, make([]byte, 1+choose.Intn(31))), "a value of another length, or a key twice"
	case 3:
		return raw[:choose.Intn(len(raw))], "cut off"
	case 4:
		return append(raw, choose.Byte()), "something behind the end"
	case 5:
		if made.Version == psbt.Version2 {
			made.Global = append(made.Global, bitcointest.Record{Key: []byte{psbt.GlobalUnsignedTx}, Value: made.Unsigned()})
			return made.Encode(), "a field of version 0 in version 2"
		}
		return add([]byte{psbt.InOutputIndex}, make([]byte, 4)), "a field of version 2 in version 0"
	case 6:
		const magic = len("psbt\xff")
		return slices.Concat(raw[:magic], []byte{0xfd, 1, 0, 0x72, 0}, raw[magic:]), "a length in more bytes than it takes"
	}
	raw[choose.Intn(len(raw))] ^= 1 << choose.Intn(8)
	return raw, ""
}
