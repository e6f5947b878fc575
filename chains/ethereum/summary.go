package ethereum

import (
	"fmt"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
	"github.com/countersign-dev/countersign/keystore"
)

var typeNames = [...]string{
	typeLegacy:     "legacy",
	typeAccessList: "1 (EIP-2930, access list)",
	typeDynamicFee: "2 (EIP-1559, dynamic fee)",
	typeBlob:       "3 (EIP-4844, blobs)",
	typeSetCode:    "4 (EIP-7702, set code)",
}

// Summary implements chains.Transaction.
func (tx *transaction) Summary() chains.Summary {
	network := networkOf(tx.chainID)
	fields := []chains.Field{chains.Text("type", typeNames[tx.kind]), tx.chainField()}
	fields = append(fields, tx.callFields(network)...)
	fields = append(fields, tx.feeFields(network)...)
	fields = append(fields, chains.Integer("nonce", tx.nonce))
	fields = append(fields, tx.accessList.Summary()...)
	fields = append(fields, tx.blobFields()...)
	fields = append(fields, tx.authorizationFields()...)
	return chains.Summary{Chain: Name, Fields: fields}
}

// SignerView implements chains.Transaction.
func (tx *transaction) SignerView(signer keystore.PublicKey) []chains.Field {
	from := evm.AddressOf(signer)
	fields := []chains.Field{chains.AddressField("from", from.String())}
	if tx.creation {
		created := crypto.CreateAddress(common.Address(from), tx.nonce)
		fields = append(fields, chains.AddressField("creates", created.Hex()))
	}
	return fields
}

func (tx *transaction) chainField() chains.Field {
	if tx.chainID == 0 {
		return chains.Text("chain", "ANY").WithNote("no chain id: valid on every chain")
	}
	return chains.Integer("chain", tx.chainID).WithNote(networkOf(tx.chainID).name)
}

func (tx *transaction) callFields(network network) []chains.Field {
	value := chains.Amount("value", tx.value.Big(tx.raw), 18, network.symbol)
	data := tx.data.Of(tx.raw)
	if tx.creation {
		return []chains.Field{chains.Text("to", "none").WithNote("creates a contract"), value, chains.Bytes("init code", data)}
	}
	contracts := tx.contracts(network)
	fields := []chains.Field{chains.AddressField("to", tx.to.String()).WithNote(contracts.KnownName(tx.to)), value}
	return append(fields, contracts.Read(evm.Transaction{To: tx.to, Value: tx.value.Big(tx.raw), Data: data}).Fields()...)
}

// contracts has the contract calls of the transaction's chain.
func (tx *transaction) contracts(network network) *evm.Network {
	id := "eip155"
	if tx.chainID > 0 {
		id += ":" + strconv.FormatUint(tx.chainID, 10)
	}
	return &evm.Network{ID: id, ChainID: tx.chainID, Symbol: network.symbol, Decimals: 18}
}

func (tx *transaction) feeFields(network network) []chains.Field {
	fee, _ := tx.maximumFee()
	fields := []chains.Field{
		chains.Amount("maximum fee", fee.ToBig(), 18, network.symbol),
		chains.Integer("gas", tx.gas),
	}
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

func (tx *transaction) authorizationFields() []chains.Field {
	var fields []chains.Field
	for number, a := range tx.authorizations.all(tx.raw) {
		fields = append(fields, a.field(number, tx.raw))
	}
	return fields
}

func (a *authorization) field(number int, raw []byte) chains.Field {
	authority := chains.Text("authority", "nobody").WithNote("the signature is not valid: the network skips this authorization")
	if signer, ok := a.authority(raw); ok {
		authority = chains.AddressField("authority", signer.String())
	}
	delegate := chains.AddressField("delegate", a.delegate.String())
	if a.delegate == (evm.Address{}) {
		delegate = delegate.WithNote("ends the delegation")
	}
	chain := chains.Text("chain", "ANY").WithNote("valid on every chain")
	if !a.anyChain() {
		chain = chains.BigInteger("chain", a.chainID.Big(raw))
	}
	return chains.List(fmt.Sprintf("authorization %d", number), authority, delegate, chain, chains.Integer("nonce", a.nonce))
}
