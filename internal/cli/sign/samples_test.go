package sign_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/keystore"
)

// chainSample is a payment on one chain, in hex. What it names of the key that signs stands in it
// as {key}, {address} or {hash160}.
type chainSample struct {
	Name     string // as people write it
	Kind     activity.TransactionType
	Curve    keystore.Curve
	unsigned string

	// check reads the signed transaction with independent code and returns what that code
	// found, or an error if the key did not sign the unsigned one.
	check func(unsigned, signed []byte, pub keystore.PublicKey) (string, error)
}

var (
	solanaSample  = chainSample{"Solana", activity.TransactionTypeSolana, keystore.CurveEd25519, sampleTransfer, checkSolana}
	tronSample    = chainSample{"Tron", activity.TransactionTypeTron, keystore.CurveSecp256k1, sampleTron, checkTron}
	bitcoinSample = chainSample{"Bitcoin", activity.TransactionTypeBitcoin, keystore.CurveSecp256k1, samplePSBT, checkBitcoin}
	chainSamples  = []chainSample{
		{"Ethereum", activity.TransactionTypeEthereum, keystore.CurveSecp256k1, sampleUSDC, checkEthereum},
		solanaSample, tronSample, bitcoinSample,
		{"Tempo", activity.TransactionTypeTempo, keystore.CurveSecp256k1, sampleBatch, checkTempo},
	}
)

const (
	samplePayee = "08d2b0a37f869ff76bacb5bab3278e26ab7067b7"

	// As go-ethereum encodes it: EIP-1559 on mainnet, transfer(0x08d2…67B7, 250 000 000) to the
	// USDC contract.
	sampleUSDC = "02f86d0107843b9aca008504a817c80082fde894a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844" +
		"a9059cbb000000000000000000000000" + samplePayee + "000000000000000000000000000000000000000000000000000000000ee6b280c0"

	// As @solana/web3.js encodes it, in the legacy format: one signature slot, then the
	// message, whose first account is the payer. 0.00001 SOL.
	sampleTransfer = "010000000000000000000000000000000000000000000000000000000000000000" +
		"0000000000000000000000000000000000000000000000000000000000000000" +
		"01000103{key}d42099a5e0aaeaad1d4ede263662787cb3f6291a6ede340c4aa7ca26249dbe30" +
		"0000000000000000000000000000000000000000000000000000000000000000" +
		"e72f180aa543b76ce7fc9df601979eeb487f76ae15b568e9877b1c4cb8e9bd2a" +
		"01020200010c020000001027000000000000"

	// As TronWeb encodes raw_data_hex. 0.0001 TRX.
	sampleTron = "0a020a1b2208112233445566778840e0c4d086a6375a65080112610a2d" +
		"747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e7472616374" +
		"12300a1541{address}121541f1cd33c4802dec54475c555f95e9403a62fd355318647080f0cc86a637"

	// As viem and ox encode it, on Tempo's test network: two calls, the first of which is
	// transfer(0x08d2…67B7, 1 000 000) to the token 0x20c0…0001, which also pays the fee;
	// valid for a limited time.
	sampleBatch = "76f8ae82a5bf843b9aca008504a817c800830186a0" +
		"f876f85c9420c000000000000000000000000000000000000180b844a9059cbb000000000000000000000000" + samplePayee +
		"00000000000000000000000000000000000000000000000000000000000f4240d794" + samplePayee + "8080" +
		"c0050384713fb300846553f1009420c000000000000000000000000000000000000180c0"

	// A PSBT that spends 100,000 satoshi: 60,000 to another address, 1,000 as fee.
	samplePSBT = "70736274ff0100710200000001aec8f30a098c4e37425e794ed32f7c098205ed391ee41ff43863e5b79a525642" +
		"0000000000ffffffff0260ea00000000000016001442424242424242424242424242424242424242425898000000000000160014{hash160}00000000" +
		"0001011fa086010000000000160014{hash160}000000"
)

// Unsigned returns the transaction that a key signs.
func (c chainSample) Unsigned(pub keystore.PublicKey) string {
	if pub.Curve() == keystore.CurveEd25519 {
		return strings.ReplaceAll(c.unsigned, "{key}", pub.String())
	}
	address, hash := pub.KeccakAddress(), pub.Hash160()
	return strings.NewReplacer("{address}", hex.EncodeToString(address[:]), "{hash160}", hex.EncodeToString(hash[:])).Replace(c.unsigned)
}

// Check reads the signed transaction with independent code and returns what that code found,
// or an error if the key did not sign the chain's transaction.
func (c chainSample) Check(signed string, pub keystore.PublicKey) (string, error) {
	unsigned, err := hex.DecodeString(c.Unsigned(pub))
	if err != nil {
		return "", err
	}
	raw, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	return c.check(unsigned, raw, pub)
}

var errOther = errors.New("not the transaction with a signature")

func checkEthereum(_, signed []byte, pub keystore.PublicKey) (string, error) {
	var tx types.Transaction
	if err := tx.UnmarshalBinary(signed); err != nil {
		return "", err
	}
	sender, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), &tx)
	return isOfKey(sender, err, pub)
}

// isOfKey compares the address that go-ethereum recovered with the key's.
func isOfKey(got common.Address, err error, pub keystore.PublicKey) (string, error) {
	if want := common.Address(pub.KeccakAddress()); err == nil && got != want {
		err = fmt.Errorf("go-ethereum recovers %v, but the key's address is %v", got, want)
	}
	return fmt.Sprintf("go-ethereum recovers the key's address, %v", got), err
}

// recovered returns the address whose key made a signature r ‖ s ‖ 27+v.
func recovered(digest, signature []byte) (common.Address, error) {
	if len(signature) != crypto.SignatureLength || signature[64] < 27 {
		return common.Address{}, errOther
	}
	signer, err := crypto.SigToPub(digest, append(bytes.Clone(signature[:64]), signature[64]-27))
	if err != nil {
		return common.Address{}, err
	}
	return crypto.PubkeyToAddress(*signer), nil
}

// checkSolana reads one signature, then the message.
func checkSolana(unsigned, signed []byte, pub keystore.PublicKey) (string, error) {
	const message = 1 + ed25519.SignatureSize
	key := pub.Ed25519()
	if len(signed) < message || signed[0] != 1 || !bytes.Equal(signed[message:], unsigned[message:]) || !ed25519.Verify(key[:], signed[message:], signed[1:message]) {
		return "", errOther
	}
	return "crypto/ed25519 verifies the payer's signature over the message", nil
}

// checkTron reads Transaction{1: raw_data, 2: signature}.
func checkTron(unsigned, signed []byte, pub keystore.PublicKey) (string, error) {
	head := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), unsigned)
	head = protowire.AppendVarint(protowire.AppendTag(head, 2, protowire.BytesType), crypto.SignatureLength)
	signature, ok := bytes.CutPrefix(signed, head)
	if !ok {
		return "", errOther
	}
	digest := sha256.Sum256(unsigned)
	owner, err := recovered(digest[:], signature)
	return isOfKey(owner, err, pub)
}

// checkTempo reads 76 ‖ rlp([item…, signature]). The preimage is the same without the
// signature.
func checkTempo(unsigned, signed []byte, pub keystore.PublicKey) (string, error) {
	var items []rlp.RawValue
	var signature []byte
	if len(signed) == 0 || signed[0] != unsigned[0] || rlp.DecodeBytes(signed[1:], &items) != nil || len(items) == 0 ||
		rlp.DecodeBytes(items[len(items)-1], &signature) != nil {
		return "", errOther
	}
	if list, err := rlp.EncodeToBytes(items[:len(items)-1]); err != nil || !bytes.Equal(list, unsigned[1:]) {
		return "", errOther
	}
	sender, err := recovered(crypto.Keccak256(unsigned), signature)
	return isOfKey(sender, err, pub)
}

// checkBitcoin runs the script of the output that the PSBT spends, once btcd has finalized it.
func checkBitcoin(unsigned, signed []byte, _ keystore.PublicKey) (string, error) {
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(signed), false)
	if err != nil {
		return "", err
	}
	if err := samePSBT(packet, unsigned, signed); err != nil {
		return "", err
	}
	spent := packet.Inputs[0].WitnessUtxo
	if err := psbt.MaybeFinalizeAll(packet); err != nil {
		return "", err
	}
	final, err := psbt.Extract(packet)
	if err != nil {
		return "", err
	}
	outputs := txscript.NewCannedPrevOutputFetcher(spent.PkScript, spent.Value)
	engine, err := txscript.NewEngine(spent.PkScript, final, 0, txscript.StandardVerifyFlags, nil,
		txscript.NewTxSigHashes(final, outputs), spent.Value, outputs)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("btcd finalizes it, and its script engine accepts transaction %v", final.TxHash()), engine.Execute()
}

// samePSBT checks that btcd writes the PSBT to the signed bytes and, without the signature,
// to the unsigned ones.
func samePSBT(packet *psbt.Packet, unsigned, signed []byte) error {
	var whole, without bytes.Buffer
	err := packet.Serialize(&whole)
	signatures := packet.Inputs[0].PartialSigs
	packet.Inputs[0].PartialSigs = nil
	err = errors.Join(err, packet.Serialize(&without))
	packet.Inputs[0].PartialSigs = signatures
	if err == nil && (!bytes.Equal(whole.Bytes(), signed) || !bytes.Equal(without.Bytes(), unsigned)) {
		err = errors.New("btcd reads another PSBT")
	}
	return err
}
