package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/keystore"
)

// A transfer of 0.0001 TRX, as TronWeb encodes raw_data_hex. The owner's address goes
// between the two parts.
const (
	demoTronBefore = "0a020a1b2208112233445566778840e0c4d086a6375a65080112610a2d" +
		"747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e5472616e73666572436f6e7472616374" +
		"12300a15"
	demoTronAfter = "121541f1cd33c4802dec54475c555f95e9403a62fd355318647080f0cc86a637"
	demoStranger  = "4197cc56300c36f60c7fb7c50babc6c5cdf59d5c56"
)

// TronDemo checks a payment with go-ethereum's curve, which recovers the owner from the
// signature.
var TronDemo = Chain{
	Name:     "Tron",
	Kind:     activity.TransactionTypeTron,
	Curve:    keystore.CurveSecp256k1,
	does:     "pay 0.0001 TRX",
	Unsigned: func(owner keystore.PublicKey) (string, error) { return demoTronFrom(owner), nil },
	dangers: []demoDanger{
		{"tron/foreign-owner", "One that spends from another account, as only a co-signer may:", func(keystore.PublicKey) (string, error) { return demoTronBefore + demoStranger + demoTronAfter, nil }},
	},
	Check: checkTron,
}

func demoTronFrom(owner keystore.PublicKey) string {
	address := owner.KeccakAddress()
	return demoTronBefore + "41" + hex.EncodeToString(address[:]) + demoTronAfter
}

// checkTron reads Transaction{1: raw_data, 2: signature}.
func checkTron(signed string, pub keystore.PublicKey) (string, error) {
	raw, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	var fields [2][]byte
	for i := range fields {
		number, kind, head := protowire.ConsumeTag(raw)
		if head < 0 || number != protowire.Number(i+1) || kind != protowire.BytesType {
			return "", errors.New("not a Tron transaction")
		}
		value, size := protowire.ConsumeBytes(raw[head:])
		if size < 0 {
			return "", protowire.ParseError(size)
		}
		fields[i], raw = value, raw[head+size:]
	}
	signature := bytes.Clone(fields[1])
	if len(raw) > 0 || len(signature) != crypto.SignatureLength || signature[64] < 27 {
		return "", errors.New("not a Tron transaction with one signature")
	}
	signature[64] -= 27
	digest := sha256.Sum256(fields[0])
	point, err := crypto.SigToPub(digest[:], signature)
	if err != nil {
		return "", err
	}
	owner, want := crypto.PubkeyToAddress(*point), common.Address(pub.KeccakAddress())
	if owner != want {
		return "", fmt.Errorf("go-ethereum recovers 41%x, but the key's address is 41%x", owner, want)
	}
	return fmt.Sprintf("go-ethereum recovers the key's address, 41%x", owner), nil
}
