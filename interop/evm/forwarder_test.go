package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// forwarders are OpenZeppelin's, of its versions 4 and 5, and a token that trusts both and
// forwards to itself.
type forwarders struct {
	*world
	minimal, second, token common.Address
}

func (w *world) deployForwarders(t *testing.T) *forwarders {
	f := &forwarders{world: w}
	f.minimal = w.deploy(t, w.signer, openzeppelin(t, "MinimalForwarder"))
	f.second = w.deploy(t, w.signer, artifact(t, "openzeppelin-5", "build", "contracts", "ERC2771Forwarder.json"), 32, []byte("Forwarder"))
	f.token = w.deploy(t, w.signer, w.own("Trusting"), w.signer, f.minimal, f.second)
	w.tokens[f.token] = erc20
	w.nonces[f.minimal], w.nonces[f.second], w.nonces[f.token] = 2, 2, 7
	for _, holder := range []common.Address{w.other, f.minimal, f.second, f.token} {
		w.must(t, w.signer, f.token, 0, call("transfer(address,uint256)", holder, big.NewInt(1e15)))
	}
	w.must(t, w.signer, f.token, 0, call("approve(address,uint256)", w.other, big.NewInt(1e15)))
	return f
}

// message draws a call of the token that the other account signs, in one of the three forms.
func (f *forwarders) message(t *testing.T, r *random) signedMessage {
	data := [][]byte{
		call("transfer(address,uint256)", r.party(), r.amount(1e9)),
		call("approve(address,uint256)", r.party(), r.amount(1e9)),
		call("increaseAllowance(address,uint256)", r.party(), r.amount(1e9)),
		call("transferFrom(address,address,uint256)", f.signer, r.party(), r.amount(1e9)),
	}[r.IntN(4)]
	gas := big.NewInt(200_000 + r.Int64N(1000))
	request := map[string]any{"from": f.other.Hex(), "to": f.token.Hex(), "value": "0", "gas": gas.String(), "data": hexText(data)}
	domain := func(name, version string, at common.Address) map[string]any {
		return map[string]any{"name": name, "version": version, "chainId": 1, "verifyingContract": at.Hex()}
	}
	var m signedMessage
	switch r.IntN(3) {
	case 0:
		nonce := f.view(f.state, f.minimal, "getNonce(address)", f.other)
		request["nonce"] = nonce.String()
		effects, digest := digestOf(t, f.world, typedData("ForwardRequest", "address from,address to,uint256 value,uint256 gas,uint256 nonce,bytes data",
			domain("MinimalForwarder", "0.0.1", f.minimal), request))
		m = signedMessage{execution{to: f.minimal, value: new(big.Int), data: structureCall("execute((address,address,uint256,uint256,uint256,bytes),bytes)",
			raw(structure(f.other, f.token, 0, gas, nonce, data)), f.signature(digest))}, effects}
		m.function = "MinimalForwarder"
	case 1:
		nonce := f.view(f.state, f.second, "nonces(address)", f.other)
		request["nonce"], request["deadline"] = nonce.String(), now+1000
		effects, digest := digestOf(t, f.world, typedData("ForwardRequest", "address from,address to,uint256 value,uint256 gas,uint256 nonce,uint48 deadline,bytes data",
			domain("Forwarder", "1", f.second), request))
		m = signedMessage{execution{to: f.second, value: new(big.Int), data: structureCall("execute((address,address,uint256,uint256,uint48,bytes,bytes))",
			raw(structure(f.other, f.token, 0, gas, now+1000, data, f.signature(digest))))}, effects}
		m.function = "ERC2771Forwarder"
	default:
		nonce := f.view(f.state, f.token, "metaNonces(address)", f.other)
		effects, digest := digestOf(t, f.world, typedData("MetaTransaction", "uint256 nonce,address from,bytes functionSignature",
			domain("Trusting", "1", f.token), map[string]any{"nonce": nonce.String(), "from": f.other.Hex(), "functionSignature": hexText(data)}))
		v, a, b := f.sign(f.other, digest)
		m = signedMessage{to(f.token, "executeMetaTransaction(address,bytes,bytes32,bytes32,uint8)", f.other, 160, a, b, v, data), effects}
		m.function = "MetaTransaction"
	}
	return m
}

// signature returns the other account's signature of a digest, as bytes.
func (f *forwarders) signature(digest []byte) []byte {
	v, r, s := f.sign(f.other, digest)
	return append(append(r[:], s[:]...), byte(v))
}
