package bench

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/bitcoin/bitcointest"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// bitcoinKey is a store with one key, its id, and what spends its outputs.
func bitcoinKey(b *testing.B) (keystore.Keystore, keystore.KeyInfo) {
	b.Helper()
	store := memory.New()
	info, err := store.Add("org", memory.Key{Curve: keystore.CurveSecp256k1, Secret: bitcoinSecret()})
	if err != nil {
		b.Fatal(err)
	}
	return store, info
}

func bitcoinSecret() []byte {
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = 0x42
	}
	return secret
}

var bitcoinSpends = map[string]func(keystore.PublicKey) bitcointest.Spend{
	"P2PKH": bitcointest.P2PKH, "P2WPKH": bitcointest.P2WPKH, "P2TR": bitcointest.BIP86,
}

// bitcoinPSBT is the hex of a PSBT with so many inputs of a type, each with the
// transaction that it spends.
func bitcoinPSBT(b *testing.B, spend bitcointest.Spend, inputs int) string {
	b.Helper()
	made := bitcointest.PSBT{Outputs: []bitcointest.Output{spend.Output(uint64(inputs) * 9_000)}}
	for i := range inputs {
		made.Inputs = append(made.Inputs, spend.Input(10_000, uint32(i)))
	}
	return hex.EncodeToString(made.Encode())
}

// signBitcoin is the whole path: hex in, hex out.
func signBitcoin(b *testing.B, chain chains.Chain, store keystore.Keystore, text, signWith string, wrap func(keystore.Key) keystore.Key) string {
	raw, err := chains.DecodeHex(text)
	if err != nil {
		b.Fatal(err)
	}
	tx, err := chain.Parse(raw)
	if err != nil {
		b.Fatal(err)
	}
	locators, err := tx.Signers(signWith)
	if err != nil {
		b.Fatal(err)
	}
	key, err := store.Find(b.Context(), "org", locators[0])
	if err != nil {
		b.Fatal(err)
	}
	key = wrap(key)
	if hazards := tx.Hazards(key.PublicKey()); len(hazards) > 0 {
		b.Fatal(hazards)
	}
	if err := tx.Check(key, signWith); err != nil {
		b.Fatal(err)
	}
	signed, err := tx.Sign(b.Context(), key, signWith)
	if err != nil {
		b.Fatal(err)
	}
	return hex.EncodeToString(signed)
}

func unchecked(key keystore.Key) keystore.Key { return key }

// BenchmarkBitcoinSign is the whole path of one input, without and with the
// check of the signature before it leaves.
func BenchmarkBitcoinSign(b *testing.B) {
	store, info := bitcoinKey(b)
	chain := bitcoin.New(bitcoin.Limits{})
	for _, name := range []string{"P2WPKH", "P2TR", "P2PKH"} {
		text := bitcoinPSBT(b, bitcoinSpends[name](info.PublicKey), 1)
		for how, wrap := range map[string]func(keystore.Key) keystore.Key{"unchecked": unchecked, "verified": keystore.Verified} {
			b.Run(name+"/"+how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					signBitcoin(b, chain, store, text, info.ID, wrap)
				}
			})
		}
	}
}

// BenchmarkBitcoinCurve is the curve operation alone.
func BenchmarkBitcoinCurve(b *testing.B) {
	store, info := bitcoinKey(b)
	key, err := store.Find(b.Context(), "org", keystore.ByID(info.ID))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("ECDSA", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := key.(keystore.ECDSASigner).SignECDSA(b.Context(), [32]byte{1}); err != nil {
				b.Fatal(err)
			}
		}
	})
	private, _ := btcec.PrivKeyFromBytes(bitcoinSecret())
	digest := make([]byte, 32)
	b.Run("schnorr.Sign", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schnorr.Sign(private, digest, schnorr.CustomNonce([32]byte{}), schnorr.FastSign()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("SignSchnorr key path", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := key.(keystore.SchnorrSigner).SignSchnorr(b.Context(), [32]byte{1}, keystore.KeyPath()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkBitcoinRatio is the whole path of one input beside the bare curve
// operation: at most 1.6. The key is the same from call to call, so that the
// output key of P2TR is remembered; "cold" reads it anew each time.
func BenchmarkBitcoinRatio(b *testing.B) {
	store, info := bitcoinKey(b)
	key, err := store.Find(b.Context(), "org", keystore.ByID(info.ID))
	if err != nil {
		b.Fatal(err)
	}
	private, _ := btcec.PrivKeyFromBytes(bitcoinSecret())
	ecdsaSign := func(i int) {
		if _, err := key.(keystore.ECDSASigner).SignECDSA(b.Context(), [32]byte{byte(i)}); err != nil {
			b.Fatal(err)
		}
	}
	schnorrSign := func(i int) {
		if _, err := schnorr.Sign(private, append(make([]byte, 31), byte(i)), schnorr.CustomNonce([32]byte{}), schnorr.FastSign()); err != nil {
			b.Fatal(err)
		}
	}
	warm, cold := bitcoin.New(bitcoin.Limits{}), bitcoin.Chain{}
	for _, c := range []struct {
		name, spend string
		chain       chains.Chain
		curve       func(int)
	}{
		{"P2WPKH", "P2WPKH", warm, ecdsaSign}, {"P2PKH", "P2PKH", warm, ecdsaSign},
		{"P2TR", "P2TR", warm, schnorrSign}, {"P2TR cold", "P2TR", cold, schnorrSign},
	} {
		text := bitcoinPSBT(b, bitcoinSpends[c.spend](info.PublicKey), 1)
		b.Run(c.name, func(b *testing.B) {
			ratio(b, func(int) { signBitcoin(b, c.chain, store, text, info.ID, unchecked) }, c.curve)
		})
	}
}

// BenchmarkBitcoinPeerRatio is the whole path beside btcd's psbt and txscript
// doing the same: at most 1.
func BenchmarkBitcoinPeerRatio(b *testing.B) {
	store, info := bitcoinKey(b)
	chain := bitcoin.New(bitcoin.Limits{})
	for _, name := range []string{"P2WPKH", "P2TR"} {
		for _, inputs := range []int{1, 100} {
			text := bitcoinPSBT(b, bitcoinSpends[name](info.PublicKey), inputs)
			b.Run(fmt.Sprintf("%s/%d", name, inputs), func(b *testing.B) {
				ratio(b, func(int) { signBitcoin(b, chain, store, text, info.ID, unchecked) },
					func(int) { peerSign(b, text, info.PublicKey) })
			})
		}
	}
}

// BenchmarkBitcoinLinear is an input among 1,000 beside one among 10, of the
// same number of inputs in all: at most 1.2 where the midstates are shared.
func BenchmarkBitcoinLinear(b *testing.B) {
	store, info := bitcoinKey(b)
	chain := bitcoin.New(bitcoin.Limits{MaxFee: bitcoin.MaxMoney, MaxFeeRate: bitcoin.MaxMoney})
	for _, name := range []string{"P2WPKH", "P2TR", "P2PKH"} {
		spend := bitcoinSpends[name](info.PublicKey)
		many, few := bitcoinPSBT(b, spend, 1000), bitcoinPSBT(b, spend, 10)
		b.Run(name, func(b *testing.B) {
			ratio(b, func(int) { signBitcoin(b, chain, store, many, info.ID, unchecked) }, func(int) {
				for range 100 {
					signBitcoin(b, chain, store, few, info.ID, unchecked)
				}
			})
		})
	}
}

// BenchmarkBitcoinInputs reports the cost of an input among many.
func BenchmarkBitcoinInputs(b *testing.B) {
	store, info := bitcoinKey(b)
	chain := bitcoin.New(bitcoin.Limits{MaxFee: bitcoin.MaxMoney, MaxFeeRate: bitcoin.MaxMoney})
	for _, name := range []string{"P2WPKH", "P2TR", "P2PKH"} {
		for _, inputs := range []int{1, 10, 100, 1000} {
			text := bitcoinPSBT(b, bitcoinSpends[name](info.PublicKey), inputs)
			b.Run(fmt.Sprintf("%s/%d", name, inputs), func(b *testing.B) {
				for b.Loop() {
					signBitcoin(b, chain, store, text, info.ID, unchecked)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(inputs), "ns/input")
			})
		}
	}
}

// BenchmarkBitcoinPeer is btcd's psbt and txscript doing the same: reading,
// checking the transactions that are spent, signing, writing.
func BenchmarkBitcoinPeer(b *testing.B) {
	_, info := bitcoinKey(b)
	for _, name := range []string{"P2WPKH", "P2TR"} {
		for _, inputs := range []int{1, 1000} {
			text := bitcoinPSBT(b, bitcoinSpends[name](info.PublicKey), inputs)
			b.Run(fmt.Sprintf("%s/%d", name, inputs), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					peerSign(b, text, info.PublicKey)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(inputs), "ns/input")
			})
		}
	}
}

func peerSign(b *testing.B, text string, pub keystore.PublicKey) string {
	raw, err := hex.DecodeString(text)
	if err != nil {
		b.Fatal(err)
	}
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		b.Fatal(err)
	}
	tx := packet.UnsignedTx
	spent := txscript.NewMultiPrevOutFetcher(nil)
	for i, in := range packet.Inputs {
		previous := tx.TxIn[i].PreviousOutPoint
		if in.NonWitnessUtxo.TxHash() != previous.Hash {
			b.Fatal("another transaction")
		}
		spent.AddPrevOut(previous, in.NonWitnessUtxo.TxOut[previous.Index])
	}
	hashes := txscript.NewTxSigHashes(tx, spent)
	private, _ := btcec.PrivKeyFromBytes(bitcoinSecret())
	for i := range packet.Inputs {
		peerSignInput(b, packet, i, hashes, spent, private, pub)
	}
	var out bytes.Buffer
	if err := packet.Serialize(&out); err != nil {
		b.Fatal(err)
	}
	return hex.EncodeToString(out.Bytes())
}

func peerSignInput(
	b *testing.B, packet *psbt.Packet, i int, hashes *txscript.TxSigHashes, spent txscript.PrevOutputFetcher,
	private *btcec.PrivateKey, pub keystore.PublicKey,
) {
	tx, out := packet.UnsignedTx, spent.FetchPrevOutput(packet.UnsignedTx.TxIn[i].PreviousOutPoint)
	if txscript.IsPayToTaproot(out.PkScript) {
		digest, err := txscript.CalcTaprootSignatureHash(hashes, txscript.SigHashDefault, tx, i, spent)
		if err != nil {
			b.Fatal(err)
		}
		signature, err := schnorr.Sign(txscript.TweakTaprootPrivKey(*private, nil), digest, schnorr.CustomNonce([32]byte{}), schnorr.FastSign())
		if err != nil {
			b.Fatal(err)
		}
		packet.Inputs[i].TaprootKeySpendSig = signature.Serialize()
		return
	}
	digest, err := txscript.CalcWitnessSigHash(out.PkScript, hashes, txscript.SigHashAll, tx, i, out.Value)
	if err != nil {
		b.Fatal(err)
	}
	signature := append(ecdsa.Sign(private, digest).Serialize(), byte(txscript.SigHashAll))
	packet.Inputs[i].PartialSigs = []*psbt.PartialSig{{PubKey: pub.Bytes(), Signature: signature}}
}
