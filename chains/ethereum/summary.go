package ethereum

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

var typeNames = [...]string{
	typeLegacy:     "legacy",
	typeAccessList: "1 (EIP-2930, access list)",
	typeDynamicFee: "2 (EIP-1559, dynamic fee)",
	typeBlob:       "3 (EIP-4844, blobs)",
	typeSetCode:    "4 (EIP-7702, set code)",
}

func (*transaction) Chain() string { return Name }

func (tx *transaction) Summary() chains.Summary {
	chain := chains.Text("chain", "ANY").As("chain_id").WithNote("no chain id: valid on every chain")
	if tx.chainID != 0 {
		name := evm.NamedNetwork(tx.chainID, tx.Network.ID).Name
		chain = chains.Integer("chain", tx.chainID).As("chain_id").WithNote(name)
	}
	fields := slices.Concat([]chains.Field{chains.Text("type", typeNames[tx.kind]), chain}, tx.callFields(),
		tx.feeFields(), []chains.Field{chains.Integer("nonce", tx.nonce)}, tx.accessList.Summary(), tx.blobFields())
	for number, a := range tx.authorizations.all(tx.raw) {
		authority := chains.Text("authority",
			"none").WithNote("the signature is not valid: the network skips this authorization")
		if by := tx.authorizations.signers()[number-1]; by.ok {
			authority = chains.AddressField("authority", by.signer.String()).WithNote(a.skipped(tx.chainID, tx.raw))
		}
		fields = append(fields, chains.List(fmt.Sprintf("authorization %d", number),
			append([]chains.Field{authority}, a.Fields(tx.raw)...)...))
	}
	return chains.Summary{Chain: Name, Fields: fields, Effects: tx.Effects()}
}

func (s *signing) SignerView() []chains.Field {
	from := s.Address
	fields := []chains.Field{chains.AddressField("from", from.String())}
	if s.tx.creation {
		created := crypto.CreateAddress(common.Address(from), s.tx.nonce)
		fields = append(fields, chains.AddressField("creates", created.Hex()))
	}
	return fields
}

func (tx *transaction) callFields() []chains.Field {
	value := chains.Amount("value", tx.value.Big(tx.raw), 18, tx.Network.Symbol)
	data := tx.data.Of(tx.raw)
	if tx.creation {
		return []chains.Field{chains.Text("to", "none").WithNote("creates a contract"), value,
			chains.Bytes("init code", data)}
	}
	if isTempo(tx.chainID) && tx.value.Len() > 0 {
		value = value.WithNote("no account holds a native coin here: the network refuses it")
	}
	to := chains.AddressField("to", tx.to.String()).WithNote(tx.Network.KnownName(tx.to))
	return append([]chains.Field{to, value}, tx.call(tx.Network.Pass()).Fields()...)
}

func (tx *transaction) feeFields() []chains.Field {
	fee, _ := tx.maximumFee()
	maximum := chains.Amount("maximum fee", fee.ToBig(), 18, tx.Network.Symbol).As("max_fee")
	if !evm.WholeFee(tx.chainID) {
		maximum = maximum.WithNote("and perhaps an L1 fee, which is not in the transaction")
	}
	fields := []chains.Field{maximum, chains.Integer("gas", tx.gas)}
	if tx.kind == typeLegacy || tx.kind == typeAccessList {
		return append(fields, chains.Amount("gas price", tx.feeCap.Big(tx.raw), 9, "gwei"))
	}
	return append(fields,
		chains.Amount("max fee per gas", tx.feeCap.Big(tx.raw), 9, "gwei"),
		chains.Amount("max priority fee per gas", tx.tipCap.Big(tx.raw), 9, "gwei"))
}

func (tx *transaction) blobFields() []chains.Field {
	if tx.blobs == 0 {
		return nil
	}
	hashes := make([]chains.Field, tx.blobs)
	for i := range hashes {
		hashes[i] = chains.Bytes("blob "+strconv.Itoa(i+1), tx.blobHash(uint64(i)))
	}
	sidecar := "none: to be sent with its blobs"
	if tx.sidecar.Len() > 0 {
		sidecar = "present and proven"
	}
	return []chains.Field{
		chains.Amount("max fee per blob gas", tx.blobFeeCap.Big(tx.raw), 9, "gwei"),
		chains.List("blobs", hashes...),
		chains.Text("sidecar", sidecar),
	}
}
