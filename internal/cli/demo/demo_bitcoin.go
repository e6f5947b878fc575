package demo

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/keystore"
)

// The amounts of the payment, in satoshi.
const (
	demoFunds  = 100_000
	demoAmount = 60_000
	demoFee    = 1_000
)

// BitcoinDemo checks a payment with btcd's PSBT finalizer and script engine.
var BitcoinDemo = Chain{
	Name:     "Bitcoin",
	Kind:     activity.TransactionTypeBitcoin,
	Curve:    keystore.CurveSecp256k1,
	does:     "pay 0.0006 BTC from a P2WPKH address",
	Unsigned: func(owner keystore.PublicKey) (string, error) { return demoPSBT(owner, true) },
	dangers: []demoDanger{
		{"bitcoin/unproven-amount", "One that does not prove the amounts it spends, so that the fee may be higher than shown:", func(owner keystore.PublicKey) (string, error) { return demoPSBT(owner, false) }},
	},
	Check: checkBitcoin,
}

// demoPSBT spends an output of the key's P2WPKH address. If proven, the PSBT contains the
// whole transaction with that output. If not, it spends two outputs and only claims their
// amounts.
func demoPSBT(owner keystore.PublicKey, proven bool) (string, error) {
	funding, script := Funding(owner)
	spending := wire.NewMsgTx(2)
	hash := funding.TxHash()
	spending.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&hash, 0), nil, nil))
	spending.AddTxOut(wire.NewTxOut(demoAmount, demoBitcoinTo))
	spending.AddTxOut(wire.NewTxOut(demoFunds-demoAmount-demoFee, script)) // change
	packet, err := psbt.NewFromUnsignedTx(spending)
	if err != nil {
		return "", err
	}
	packet.Inputs[0].WitnessUtxo = funding.TxOut[0]
	if proven {
		packet.Inputs[0].NonWitnessUtxo = funding
	} else {
		packet.UnsignedTx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&hash, 1), nil, nil))
		packet.Inputs = append(packet.Inputs, psbt.PInput{WitnessUtxo: wire.NewTxOut(demoFee, script)})
	}
	var out bytes.Buffer
	err = packet.Serialize(&out)
	return hex.EncodeToString(out.Bytes()), err
}

// demoBitcoinTo is a P2WPKH script.
var demoBitcoinTo = append([]byte{txscript.OP_0, 20}, bytes.Repeat([]byte{0x42}, 20)...)

// Funding returns a transaction that pays the owner, and the script of its output.
func Funding(owner keystore.PublicKey) (funding *wire.MsgTx, script []byte) {
	hash := owner.Hash160()
	script = append([]byte{txscript.OP_0, 20}, hash[:]...)
	funding = wire.NewMsgTx(2)
	funding.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: [32]byte{1}}, nil, nil))
	funding.AddTxOut(wire.NewTxOut(demoFunds, script))
	return funding, script
}

func checkBitcoin(signed string, owner keystore.PublicKey) (string, error) {
	raw, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		return "", err
	}
	if err := checkDemoInput(packet, raw, owner); err != nil {
		return "", err
	}
	if err := psbt.MaybeFinalizeAll(packet); err != nil {
		return "", err
	}
	final, err := psbt.Extract(packet)
	if err != nil {
		return "", err
	}
	if err := runScript(final, owner); err != nil {
		return "", err
	}
	return fmt.Sprintf("btcd finalizes it, and its script engine accepts transaction %v", final.TxHash()), nil
}

// checkDemoInput checks the input that the PSBT spends, and that btcd serializes the PSBT
// to the same bytes.
func checkDemoInput(packet *psbt.Packet, raw []byte, owner keystore.PublicKey) error {
	var again bytes.Buffer
	if err := packet.Serialize(&again); err != nil {
		return err
	}
	funding, script := Funding(owner)
	input := &packet.Inputs[0]
	switch {
	case !bytes.Equal(again.Bytes(), raw):
		return errors.New("btcd serializes the PSBT to other bytes")
	case input.NonWitnessUtxo == nil || input.NonWitnessUtxo.TxHash() != funding.TxHash():
		return errors.New("the PSBT spends another transaction")
	case input.WitnessUtxo == nil || input.WitnessUtxo.Value != demoFunds || !bytes.Equal(input.WitnessUtxo.PkScript, script):
		return errors.New("the PSBT spends another output")
	}
	return nil
}

func runScript(final *wire.MsgTx, owner keystore.PublicKey) error {
	_, script := Funding(owner)
	outputs := txscript.NewCannedPrevOutputFetcher(script, demoFunds)
	engine, err := txscript.NewEngine(script, final, 0, txscript.StandardVerifyFlags, nil,
		txscript.NewTxSigHashes(final, outputs), demoFunds, outputs)
	if err != nil {
		return err
	}
	return engine.Execute()
}
