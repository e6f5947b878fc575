package evm

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// gasPrice is what the submitter of a message pays, in wei.
const gasPrice = 50

// signedMessage is a message that the other account signs and that the signer submits.
type signedMessage struct {
	execution
	effects []chains.Effect // of the message, by the other account's signature
}

// digestOf reads typed data as the engine does, and returns its effects and the digest
// that is signed.
func digestOf(t *testing.T, w *world, typed map[string]any) (effects []chains.Effect, digest []byte) {
	t.Helper()
	read := read(t, typed)
	key := &recorded{Key: evmtest.Key(t, hex.EncodeToString(w.secrets[w.other]))}
	signing, err := chaintest.Ready(read, key.ID(), key)
	testenv.Must(t, err)
	if _, err := signing.AppendSigned(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return signing.Effects(), key.digest[:]
}

func read(t *testing.T, typed map[string]any) chains.Transaction {
	t.Helper()
	text := testenv.Encode(t, typed)
	message, err := ethereum.Chain{}.ReadMessage(chains.Message{Form: chains.MessageTypedData, Bytes: text, Now: time.Unix(now, 0)})
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return message
}

// recorded is a key that records what it signs.
type recorded struct {
	keystore.Key
	digest [32]byte
}

// SignECDSA implements keystore.ECDSASigner.
func (k *recorded) SignECDSA(_ context.Context, digest [32]byte) (signature [65]byte, err error) {
	k.digest = digest
	return signature, nil
}

// typedData returns typed data of a type, with a domain of a contract on mainnet.
func typedData(primary string, members string, domain map[string]any, message map[string]any) map[string]any {
	fields := func(list string) (all []map[string]string) {
		for _, member := range strings.Split(list, ",") {
			kind, name, _ := strings.Cut(member, " ")
			all = append(all, map[string]string{"name": name, "type": kind})
		}
		return all
	}
	names := []string{}
	for _, member := range []string{"string name", "string version", "uint256 chainId", "address verifyingContract"} {
		if _, name, _ := strings.Cut(member, " "); domain[name] != nil {
			names = append(names, member)
		}
	}
	return map[string]any{"types": map[string]any{"EIP712Domain": fields(strings.Join(names, ",")), primary: fields(members)},
		"primaryType": primary, "domain": domain, "message": message}
}

func hexText(raw []byte) string { return "0x" + hex.EncodeToString(raw) }

// safeMessage draws a transaction of the Safe with a refund, which the other owner signs.
func (w *world) safeMessage(t *testing.T, r *random) signedMessage {
	target, value, data, delegate := r.party(), r.amount(1e9), []byte{}, 0
	switch r.IntN(4) {
	case 0:
		target, value, data = w.erc20, new(big.Int), call("transfer(address,uint256)", r.party(), r.amount(1e9))
	case 1:
		list := append(packed(0, w.erc20, new(big.Int), call("transfer(address,uint256)", r.party(), r.amount(1e9))), packed(0, r.party(), r.amount(1e9), nil)...)
		target, value, data, delegate = callOnly, new(big.Int), call("multiSend(bytes)", 32, list), 1
	case 2:
		hash := r.hash()
		target = common.BytesToAddress(hash[:]) // a new account
	}
	gas, base, price := big.NewInt(120_000+r.Int64N(1000)), r.amount(1e6), big.NewInt(r.Int64N(2*gasPrice))
	token := []common.Address{{}, w.erc20, w.token}[r.IntN(3)]
	receiver := []common.Address{{}, w.third, {0x44, 9}, w.other}[r.IntN(4)]
	nonce := w.view(w.state, w.safe, "nonce()")
	effects, digest := digestOf(t, w, typedData("SafeTx", safeTx,
		map[string]any{"chainId": 1, "verifyingContract": w.safe.Hex()},
		map[string]any{"to": target.Hex(), "value": value.String(), "data": hexText(data), "operation": delegate, "safeTxGas": gas.String(), "baseGas": base.String(),
			"gasPrice": price.String(), "gasToken": token.Hex(), "refundReceiver": receiver.Hex(), "nonce": nonce.String()}))
	v, a, b := w.sign(w.other, digest)
	execution := to(w.safe, safeFunction, target, value, 320, delegate, gas, base, price, token, receiver, 320+len(words(data)), data, append(append(a[:], b[:]...), byte(v)))
	execution.function = "SafeTx"
	return signedMessage{execution, effects}
}

const safeTx = "address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce"

const safeFunction = "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)"

// operationMessage draws a user operation of any version, which the other account signs.
func (w *world) operationMessage(t *testing.T, r *random) signedMessage {
	e := w.entryPoints[r.IntN(len(w.entryPoints))]
	o := operation{sender: e.account, data: w.operationCall(r, e)}
	var hashed []byte // the init code as it is hashed
	switch r.IntN(3) {
	case 0: // an account that is created
		salt := r.limit(200)
		o.factory = append(slices.Clone(e.factory[:]), call("createAccount(address,uint256)", w.other, salt)...)
		o.sender = common.BigToAddress(w.view(w.state, e.factory, "getAddress(address,uint256)", w.other, salt))
		o.data, hashed = nil, o.factory
		w.state.AddBalance(o.sender, uint256.NewInt(1e12), tracing.BalanceChangeUnspecified)
	case 1: // the other account itself, delegated
		if e.hashed {
			w.state.SetCode(w.other, types.AddressToDelegation(e.delegate), tracing.CodeChangeUnspecified)
			w.genuine[w.other] = true
			o.sender, o.data = w.other, w.transferFrom20(r)
			o.factory = append([]byte{0x77, 0x02}, make([]byte, 18)...)
			hashed = slices.Clone(e.delegate[:])
			if r.coin() { // a call by the EntryPoint, which the account takes without doing anything
				more := call("supportsInterface(bytes4)", 0)
				o.factory, hashed = append(o.factory, more...), append(hashed, more...)
			}
		}
	}
	if r.coin() {
		o.paymaster = e.paid(r)
		if r.coin() {
			copy(o.paymaster, e.taker[:])
		}
	}
	o.nonce = w.view(w.state, e.at, "getNonce(address,uint192)", o.sender, r.limit(60))
	gas := []int64{300_000 + r.Int64N(1000), 900_000 + r.Int64N(1000), r.Int64N(1e6), r.Int64N(200)}
	encoded := e.encodeWith(o, gas, make([]byte, 65))
	hash := common.BigToHash(w.view(w.state, e.at, "getUserOpHash("+e.tuple()+")", 32, encoded))
	effects, digest := w.operationEffects(t, e, o, gas, hashed), hash[:]
	if e.hashed {
		typed, own := digestOf(t, w, e.typed(o, gas, hashed))
		if string(own) != string(digest) {
			t.Fatalf("EntryPoint %s hashes %x, the typed data is %x", e.version, digest, own)
		}
		if !slices.Equal(sentences(typed), sentences(effects)) && o.sender != w.other {
			t.Fatalf("typed data of EntryPoint %s:\n%s\nand its operation:\n%s", e.version, strings.Join(sentences(typed), "\n"), strings.Join(sentences(effects), "\n"))
		}
		effects = typed
	} else {
		digest = crypto.Keccak256([]byte("\x19Ethereum Signed Message:\n32"), digest)
	}
	v, a, b := w.sign(w.other, digest)
	execution := e.handle(common.Address{0xbe}, e.encodeWith(o, gas, append(append(a[:], b[:]...), byte(v))))
	execution.function = fmt.Sprintf("operation of %s", e.version)
	return signedMessage{execution, effects}
}

// operationCall draws call data.
func (w *world) operationCall(r *random, e *entryPoint) []byte {
	switch r.IntN(4) {
	case 0:
		return w.transferFrom20(r)
	case 1:
		return structureCall("execute(address,uint256,bytes)", r.party(), r.amount(1e9), []byte{})
	case 2:
		return e.batch(w, r)
	}
	return nil
}

// encodeWith is encode with a tip as high as the fee, so that it is charged.
func (e *entryPoint) encodeWith(o operation, gas []int64, signature []byte) raw {
	if !e.packed {
		return structure(o.sender, o.nonce, o.factory, o.data, int(gas[0]), int(gas[1]), int(gas[2]), int(gas[3]), int(gas[3]), o.paymaster, signature)
	}
	return structure(o.sender, o.nonce, o.factory, o.data, halves(gas[1], gas[0]), int(gas[2]), halves(gas[3], gas[3]), o.paymaster, signature)
}

// halves packs two numbers into a word.
func halves(high, low int64) common.Hash {
	return common.BigToHash(new(big.Int).Or(new(big.Int).Lsh(big.NewInt(high), 128), big.NewInt(low)))
}

// typed returns the typed data of an operation.
func (e *entryPoint) typed(o operation, gas []int64, init []byte) map[string]any {
	limits, fees := halves(gas[1], gas[0]), halves(gas[3], gas[3])
	return typedData("PackedUserOperation",
		"address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData",
		map[string]any{"name": "ERC4337", "version": "1", "chainId": 1, "verifyingContract": e.at.Hex()},
		map[string]any{"sender": o.sender.Hex(), "nonce": o.nonce.String(), "initCode": hexText(init), "callData": hexText(o.data), "accountGasLimits": limits.Hex(),
			"preVerificationGas": fmt.Sprint(gas[2]), "gasFees": fees.Hex(), "paymasterAndData": hexText(o.paymaster)})
}

// operationEffects returns the effects of an operation in the form that is hashed.
func (w *world) operationEffects(t *testing.T, e *entryPoint, o operation, gas []int64, init []byte) []chains.Effect {
	t.Helper()
	if e.hashed {
		return read(t, e.typed(o, gas, init)).Effects()
	}
	members := strings.NewReplacer("uint128 verificationGasLimit,uint128 callGasLimit", "uint256 callGasLimit,uint256 verificationGasLimit",
		"uint128 maxPriorityFeePerGas,uint128 maxFeePerGas", "uint256 maxFeePerGas,uint256 maxPriorityFeePerGas").Replace(safeOp)
	if e.packed {
		members = safeOp
	}
	message := map[string]any{"safe": o.sender.Hex(), "nonce": o.nonce.String(), "initCode": hexText(init), "callData": hexText(o.data), "paymasterAndData": hexText(o.paymaster),
		"validAfter": 0, "validUntil": now, "entryPoint": e.at.Hex()}
	for i, name := range []string{"callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas", "maxPriorityFeePerGas"} {
		message[name] = gas[min(i, 3)]
	}
	return read(t, typedData("SafeOp", members, map[string]any{"chainId": 1, "verifyingContract": common.Address{0x77}.Hex()}, message)).Effects()
}

// safeOp are the members of an operation that a Safe signs for EntryPoint 0.7.
const safeOp = "address safe,uint256 nonce,bytes initCode,bytes callData,uint128 verificationGasLimit,uint128 callGasLimit,uint256 preVerificationGas," +
	"uint128 maxPriorityFeePerGas,uint128 maxFeePerGas,bytes paymasterAndData,uint48 validAfter,uint48 validUntil,address entryPoint"

// submitted returns the effects of a message as those of the transaction that submits it:
// the signature is then another one, the submitter is the signer, and the EntryPoint
// pays the fee on to the beneficiary. A paymaster may take what was approved to it.
func (w *world) submitted(m signedMessage) (effects []chains.Effect) {
	for _, e := range m.effects {
		if e.To.IsUnknown() {
			e.To = chains.PartyWritten(w.signer[:], "")
		}
		if at := common.BytesToAddress(e.To.Address()); e.Undecoded && e.Function == chains.InitCode && w.state.GetCodeSize(at) == 0 {
			e = chains.Effect{Kind: chains.KindCreate, From: e.Account, By: e.By, To: e.To} // a factory that is not known: refused by name
		}
		if e.Kind == chains.KindFee && !e.Account.IsNone() { // it may take tokens approved to it
			effects = append(effects, chains.Effect{Kind: chains.KindTransfer, By: chains.ByStanding, From: e.Account, To: e.From,
				Asset: chains.Token(e.Asset.Chain, chains.PartyWritten(w.erc20[:], ""), "erc20"), Amount: chains.AtMost(big.NewInt(takes))})
		}
		if e.Kind == chains.KindFee {
			e.By = chains.ByOther
			effects = append(effects, chains.Effect{Kind: chains.KindTransfer, By: chains.ByStanding, From: chains.PartyWritten(m.to[:], ""),
				To: chains.PartyWritten(common.Address{0xbe}.Bytes(), ""), Asset: e.Asset, Amount: e.Amount})
		}
		effects = append(effects, e)
	}
	return effects
}

// submit runs the transaction of a message. It returns nil, with the old state, if the
// transaction fails.
func (w *world) submit(m signedMessage, start *state.StateDB) *comparison {
	before, effects := w.state.Copy(), w.submitted(m)
	w.forget()
	config := w.config(w.signer, m.value)
	config.GasPrice = big.NewInt(gasPrice)
	if _, _, err := runtime.Call(m.to, m.data, config); err != nil {
		w.state = start
		return nil
	}
	return &comparison{world: w, start: start, execution: m.execution, effects: effects, before: before, after: w.state}
}

// TestMessagesAgainstExecution draws messages of a Safe's owner, of an account's and to
// forwarders, which are submitted by another account, and compares what happens with their effects. They draw
// value, refunds, init code and paymasters.
func TestMessagesAgainstExecution(t *testing.T) {
	w := newWorld(t)
	w.deployTakers(t)
	forwarders := w.deployForwarders(t)
	r := &random{rand.New(rand.NewPCG(39, 1)), w}
	wanted := testenv.Draws(t, 1000)
	if testing.Short() {
		wanted = min(wanted, 100)
	}
	for name, draw := range map[string]func(*testing.T, *random) signedMessage{"Safe": w.safeMessage, "operation": w.operationMessage, "forwarder": forwarders.message} {
		runs, noticed, changed := 0, 0, map[string]int{}
		for tries := 0; runs < wanted && tries < 20*wanted; tries++ {
			start := w.state.Copy()
			compared := w.submit(draw(t, r), start)
			if compared == nil {
				continue
			}
			runs++
			changed[compared.function]++
			for _, problem := range compared.run() {
				t.Errorf("%s\n%x\n%s", problem, compared.data, strings.Join(sentences(compared.effects), "\n"))
			}
			if runs <= 20 {
				noticed += compared.control()
			}
			w.state = start
			if len(compared.problems) > 0 && t.Failed() && runs > 50 {
				break
			}
		}
		if runs < wanted || noticed == 0 {
			t.Errorf("%s: %d successful runs, want %d; %d removed effects were noticed", name, runs, wanted, noticed)
		}
		t.Logf("%s: %d successful runs %v", name, runs, changed)
	}
}
