package tron

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
)

// refusal is bytes that are refused, and the whole error, with field and offset.
type refusal struct {
	name string
	raw  []byte
	want string
}

func checkRefusals(t *testing.T, kind error, cases []refusal) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Chain{}.Parse(c.raw)
			parseError, ok := errors.AsType[*chains.ParseError](err)
			if !ok || err.Error() != c.want {
				t.Fatalf("%x\n%v\nwant\n%s", c.raw, err, c.want)
			}
			if !errors.Is(err, kind) || parseError.Offset > len(c.raw) {
				t.Errorf("%v with offset %d of %d", parseError.Kind, parseError.Offset, len(c.raw))
			}
		})
	}
}

// with returns a transfer with its frame changed.
func with(t *testing.T, change func(*frame)) []byte {
	t.Helper()
	f := newFrame(wrapped(1, "TransferContract", transfer(t)))
	change(&f)
	return f.bytes()
}

func TestRefusedInput(t *testing.T) {
	good := rawOf(1, transfer(t))
	checkRefusals(t, chains.ErrMalformed, []refusal{
		{"empty", nil, "tron: empty: expected raw_data_hex"},
		{"JSON in hex", []byte(`{"visible":false,"raw_data_hex":"0a02"}`), "tron: at byte 0: this is JSON: expected raw_data_hex, the member of that name in a TronWeb transaction"},
		{"a transaction id", bytes.Repeat([]byte{0x5c}, 32), "tron: at byte 0: 32 bytes: this looks like a transaction id: expected raw_data_hex, since nothing is signed that cannot be read"},
		{"over 500 kB", with(t, func(f *frame) { f.data = lengthField(10, make([]byte, 500<<10)) }), "tron: 512135 bytes, the network accepts 512000"},
		{"over 500 kB once signed", with(t, func(f *frame) { f.data = lengthField(10, make([]byte, 500<<10-300)) }), "tron: 512034 bytes once signed and with room for its result, the network accepts 512000"},
		{"cut off", good[:len(good)-1], "tron: raw_data.timestamp at byte 125: the varint is cut off"},
		{"cut off in the contract", good[:60], "tron: raw_data.contract at byte 22: its length is 101, but only 37 bytes are left"},
		{"trailing byte", append(bytes.Clone(good), 0), "tron: raw_data at byte 131: field number 0 does not exist in Protocol Buffers"},
		{"twice", join(good, good), "tron: raw_data.ref_block_bytes at byte 131: out of order: fields stand in ascending order, each once"},
		{"an Ethereum transaction", chaintest.Unhex(t, "02e9018203e8843b9aca008504a817c800825208945555555555555555555555555555555555555555018080c0"), "tron: raw_data at byte 0: field number 0 does not exist in Protocol Buffers"},
	})
}

// TestJSONGivenByMistake has the JSON of TronWeb's transactions, of which one member is
// expected. As text it is refused before the chain sees it, and as hex by the chain.
func TestJSONGivenByMistake(t *testing.T) {
	const text = `{"visible":false,"txID":"00","raw_data":{},"raw_data_hex":"0a02"}`
	if _, err := chains.DecodeHex(text); err == nil || !strings.Contains(err.Error(), "looks like JSON") {
		t.Errorf("%v", err)
	}
	if _, err := (Chain{}).Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "expected raw_data_hex") {
		t.Errorf("%v", err)
	}
	if got := (Chain{}).Expects(); got != "raw_data_hex, or hex of a whole Transaction" {
		t.Errorf("expects %s", got)
	}
}

func TestRefusedFrame(t *testing.T) {
	contract := lengthField(11, wrapped(1, "TransferContract", transfer(t)))
	checkRefusals(t, chains.ErrMalformed, []refusal{
		{"no reference bytes", with(t, func(f *frame) { f.blockBytes = nil }), "tron: raw_data.ref_block_bytes at byte 127: missing: the last two bytes of a recent block's number"},
		{"three reference bytes", with(t, func(f *frame) { f.blockBytes = lengthField(1, []byte{1, 2, 3}) }), "tron: raw_data.ref_block_bytes at byte 2: 3 bytes, want 2: the last two bytes of a recent block's number"},
		{"reference block number", with(t, func(f *frame) { f.blockNum = varintField(3, 7) }), "tron: raw_data.ref_block_num at byte 4: the network does not look at it: leave it out"},
		{"no reference hash", with(t, func(f *frame) { f.blockHash = nil }), "tron: raw_data.ref_block_hash at byte 121: missing: bytes 8 to 15 of the reference block's hash"},
		{"reference hash of 32 bytes", with(t, func(f *frame) { f.blockHash = lengthField(4, make([]byte, 32)) }), "tron: raw_data.ref_block_hash at byte 6: 32 bytes, want 8: bytes 8 to 15 of the reference block's hash"},
		{"no expiration", with(t, func(f *frame) { f.expiration = nil }), "tron: raw_data.expiration at byte 124: missing: the network requires a value above 0"},
		{"expiration 0", with(t, func(f *frame) { f.expiration = varintField(8, 0) }), "tron: raw_data.expiration at byte 15: 0: the network requires a value above 0"},
		{"expiration negative", with(t, func(f *frame) { f.expiration = varintField(8, -1) }), "tron: raw_data.expiration at byte 15: -1: the network requires a value above 0"},
		{"auths", with(t, func(f *frame) { f.auths = lengthField(9, nil) }), "tron: raw_data.auths at byte 21: the network does not use it: leave it out"},
		{"empty memo", with(t, func(f *frame) { f.data = lengthField(10, nil) }), "tron: raw_data.data at byte 23: empty: the canonical encoding leaves an empty field out"},
		{"no contract", with(t, func(f *frame) { f.contract = nil }), "tron: raw_data.contract at byte 28: missing: without it the network refuses the transaction"},
		{"two contracts", with(t, func(f *frame) { f.contract = join(contract, contract) }), "tron: raw_data.contract at byte 124: several contracts: the network accepts exactly one"},
		{"scripts", with(t, func(f *frame) { f.scripts = lengthField(12, []byte{1}) }), "tron: raw_data.scripts at byte 124: the network does not use it: leave it out"},
		{"timestamp 0", with(t, func(f *frame) { f.timestamp = varintField(14, 0) }), "tron: raw_data.timestamp at byte 125: 0 is the default, which the canonical encoding leaves out"},
		{"timestamp negative", with(t, func(f *frame) { f.timestamp = varintField(14, -5) }), "tron: raw_data.timestamp at byte 125: -5 is negative"},
		{"fee limit negative", with(t, func(f *frame) { f.feeLimit = varintField(18, -1) }), "tron: raw_data.fee_limit at byte 133: -1 is negative"},
		{"fee limit 0", with(t, func(f *frame) { f.feeLimit = varintField(18, 0) }), "tron: raw_data.fee_limit at byte 133: 0 is the default, which the canonical encoding leaves out"},
		{"unknown field", with(t, func(f *frame) { f.after = varintField(19, 1) }), "tron: raw_data at byte 131: unknown field 19"},
		{"unknown field between", with(t, func(f *frame) { f.blockNum = lengthField(2, []byte("x")) }), "tron: raw_data at byte 4: unknown field 2"},
		{"memo after the contract", with(t, func(f *frame) { f.scripts = lengthField(10, []byte("hi")) }), "tron: raw_data.data at byte 124: out of order: fields stand in ascending order, each once"},
		{"memo twice", with(t, func(f *frame) { f.data = join(lengthField(10, []byte("a")), lengthField(10, []byte("b"))) }), "tron: raw_data.data at byte 24: repeated: this field comes once"},
		{"expiration twice", with(t, func(f *frame) { f.expiration = join(f.expiration, f.expiration) }), "tron: raw_data.expiration at byte 21: repeated: this field comes once"},
		{"expiration as bytes", with(t, func(f *frame) { f.expiration = lengthField(8, []byte{1}) }), "tron: raw_data.expiration at byte 14: wire type LEN, want VARINT"},
		{"expiration as fixed64", with(t, func(f *frame) { f.expiration = join([]byte{8<<3 | 1}, make([]byte, 8)) }), "tron: raw_data.expiration at byte 14: wire type I64, want VARINT"},
		{"memo as a varint", with(t, func(f *frame) { f.data = varintField(10, 1) }), "tron: raw_data.data at byte 21: wire type VARINT, want LEN"},
		{"group", with(t, func(f *frame) { f.data = []byte{10<<3 | 3, 10<<3 | 4} }), "tron: raw_data at byte 21: field 10 is a group, which proto3 does not have"},
		{"end of a group", with(t, func(f *frame) { f.data = []byte{10<<3 | 4} }), "tron: raw_data at byte 21: field 10 is a group, which proto3 does not have"},
		{"wire type 6", with(t, func(f *frame) { f.data = []byte{10<<3 | 6} }), "tron: raw_data at byte 21: field 10 has wire type 6, which does not exist"},
		{"field 0", with(t, func(f *frame) { f.data = []byte{0<<3 | 2, 0} }), "tron: raw_data at byte 21: field number 0 does not exist in Protocol Buffers"},
		{"field over 2^29", with(t, func(f *frame) { f.after = join(protowire.AppendVarint(nil, 1<<32), []byte{1}) }), "tron: raw_data at byte 131: field number 536870912 does not exist in Protocol Buffers"},
		{"long tag", with(t, func(f *frame) { f.expiration = []byte{0x40 | 0x80, 0, 1} }), "tron: raw_data at byte 14: the varint has 2 bytes where 1 would do"},
		{"long varint", with(t, func(f *frame) { f.expiration = []byte{0x40, 0x81, 0} }), "tron: raw_data.expiration at byte 15: the varint has 2 bytes where 1 would do"},
		{"varint of 11 bytes", with(t, func(f *frame) {
			f.expiration = join([]byte{0x40}, bytes.Repeat([]byte{0x80}, 10), []byte{1})
		}), "tron: raw_data.expiration at byte 15: the varint is over 64 bits"},
		{"varint cut off", with(t, func(f *frame) { f.after = []byte{0x90, 0x01, 0x80} }), "tron: raw_data.fee_limit at byte 133: the varint is cut off"},
		{"long length", with(t, func(f *frame) { f.data = []byte{0x52, 0x81, 0x00, 'x'} }), "tron: raw_data.data at byte 22: the varint has 2 bytes where 1 would do"},
		{"length beyond the end", with(t, func(f *frame) { f.data = []byte{0x52, 0xff, 0xff, 0xff, 0xff, 0x0f} }), "tron: raw_data.data at byte 22: its length is 4294967295, but only 110 bytes are left"},
		{"length over 63 bits", with(t, func(f *frame) {
			f.data = []byte{0x52, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}
		}), "tron: raw_data.data at byte 22: its length is 18446744073709551615, but only 110 bytes are left"},
	})
}

// inFrame returns a Transaction.raw with the bytes of a Contract.
func inFrame(parts ...[]byte) []byte { return newFrame(join(parts...)).bytes() }

func TestRefusedContract(t *testing.T) {
	send, kind := anyOf("TransferContract", transfer(t)), typeField(1)
	value := lengthField(2, transfer(t))
	checkRefusals(t, chains.ErrMalformed, []refusal{
		{"type of another message", inFrame(typeField(2), lengthField(2, send)), `tron: Any.type_url at byte 29: "type.googleapis.com/protocol.TransferContract" does not match contract type 2, which requires "type.googleapis.com/protocol.TransferAssetContract"`},
		{"type left out", inFrame(lengthField(2, send)), `tron: Any.type_url at byte 27: "type.googleapis.com/protocol.TransferContract" does not match contract type 0, which requires "type.googleapis.com/protocol.AccountCreateContract"`},
		{"type 0 written", inFrame(varintField(1, 0), lengthField(2, anyOf("AccountCreateContract", nil))), "tron: contract.type at byte 24: 0 is the default, which the canonical encoding leaves out"},
		{"type over 31 bits", inFrame(varintField(1, 1<<32|1), lengthField(2, send)), "tron: contract.type at byte 24: 4294967297 is outside 0 to 2147483647"},
		{"type twice", inFrame(kind, kind, lengthField(2, send)), "tron: contract.type at byte 25: repeated: this field comes once"},
		{"no parameter", inFrame(kind), "tron: contract.parameter at byte 25: missing: without it the network refuses the transaction"},
		{"parameter twice, to be merged", inFrame(kind, lengthField(2, send), lengthField(2, value)), "tron: contract.parameter at byte 125: repeated: this field comes once"},
		{"parameter before type", inFrame(lengthField(2, send), kind), "tron: contract.type at byte 122: out of order: fields stand in ascending order, each once"},
		{"empty provider", inFrame(kind, lengthField(2, send), lengthField(3, nil)), "tron: contract.provider at byte 126: empty: the canonical encoding leaves an empty field out"},
		{"permission negative", inFrame(kind, lengthField(2, send), varintField(5, -1)), "tron: contract.Permission_id at byte 125: -1 is negative"},
		{"permission of the witness", inFrame(kind, lengthField(2, send), varintField(5, 1)), "tron: contract.Permission_id at byte 125: 1: the network accepts no transaction under the witness permission"},
		{"permission 10", inFrame(kind, lengthField(2, send), varintField(5, 10)), "tron: contract.Permission_id at byte 125: 10 is outside 0 to 9"},
		{"permission 0 written", inFrame(kind, lengthField(2, send), varintField(5, 0)), "tron: contract.Permission_id at byte 125: 0 is the default, which the canonical encoding leaves out"},
		{"permission over 32 bits", inFrame(kind, lengthField(2, send), varintField(5, 1<<32|2)), "tron: contract.Permission_id at byte 125: 4294967298 is outside 0 to 9"},
		{"another prefix", inFrame(kind, lengthField(2, join(lengthField(1, []byte("example.com/protocol.TransferContract")), value))), `tron: Any.type_url at byte 29: "example.com/protocol.TransferContract" does not match contract type 1, which requires "type.googleapis.com/protocol.TransferContract"`},
		{"no type URL", inFrame(kind, lengthField(2, value)), "tron: Any.type_url at byte 77: missing: without it the network refuses the transaction"},
		{"type URL twice", inFrame(kind, lengthField(2, join(lengthField(1, []byte("type.googleapis.com/protocol.TransferAssetContract")), send))), "tron: Any.type_url at byte 81: repeated: this field comes once"},
		{"value twice, to be replaced", inFrame(kind, lengthField(2, join(send, value))), "tron: Any.value at byte 126: repeated: this field comes once"},
		{"type URL of 129 bytes", inFrame(kind, lengthField(2, join(lengthField(1, bytes.Repeat([]byte("x"), 129)), value))), "tron: Any.type_url at byte 32: 129 bytes, at most 128 are accepted"},
		{"type URL is not UTF-8", inFrame(kind, lengthField(2, join(lengthField(1, []byte{0xff}), value))), "tron: Any.type_url at byte 29: not UTF-8, which a string is"},
		{"no value", inFrame(kind, lengthField(2, lengthField(1, []byte("type.googleapis.com/protocol.TransferContract")))), "tron: Any.value at byte 74: missing: without it the network refuses the transaction"},
		{"unknown field in Any", inFrame(kind, lengthField(2, join(send, varintField(3, 1)))), "tron: Any at byte 124: unknown field 3"},
		{"unknown field in contract", inFrame(kind, lengthField(2, send), varintField(6, 1)), "tron: contract at byte 124: unknown field 6"},
	})
	checkRefusals(t, chains.ErrUnsupported, []refusal{
		{"VoteAssetContract", inFrame(typeField(3), lengthField(2, anyOf("VoteAssetContract", nil))), "tron: contract.type at byte 24: 3: VoteAssetContract: the network does not execute it"},
		{"CustomContract", inFrame(typeField(20), lengthField(2, anyOf("CustomContract", nil))), "tron: contract.type at byte 24: 20: CustomContract: the network does not execute it"},
		{"GetContract", inFrame(typeField(32), lengthField(2, anyOf("GetContract", nil))), "tron: contract.type at byte 24: 32: GetContract: the network does not execute it"},
		{"ShieldedTransferContract", inFrame(typeField(51), lengthField(2, anyOf("ShieldedTransferContract", nil))), "tron: contract.type at byte 24: 51: ShieldedTransferContract: it is signed with keys of its own, which Countersign does not hold"},
		{"type 7", inFrame(typeField(7), lengthField(2, send)), "tron: contract.type at byte 24: 7: unknown contract type"},
		{"type 60", inFrame(typeField(60), lengthField(2, send)), "tron: contract.type at byte 24: 60: unknown contract type"},
	})
}

func TestRefusedMessages(t *testing.T) {
	owner, other := chaintest.Unhex(t, ownerHex), chaintest.Unhex(t, otherHex)
	from, to := lengthField(1, owner), lengthField(2, other)
	trigger := join(from, lengthField(2, chaintest.Unhex(t, contractHex)))
	vote := join(lengthField(1, other), varintField(2, 1))
	from2, to3 := lengthField(2, owner), lengthField(3, other)
	moments, site := join(varintField(9, 5), varintField(10, 6)), lengthField(21, []byte("https://example.org"))
	asset := func() []byte {
		return join(from, lengthField(2, []byte("T")), varintField(4, 1), varintField(6, 1), varintField(8, 1))
	}
	checkRefusals(t, chains.ErrMalformed, []refusal{
		{"address of 20 bytes", rawOf(1, join(lengthField(1, owner[1:]), to, varintField(3, 1))), "tron: TransferContract.owner_address at byte 78: 20 bytes: this looks like an Ethereum address; an address of Tron has 41 in front and 21 bytes"},
		{"address of 22 bytes", rawOf(1, join(lengthField(1, append(bytes.Clone(owner), 1)), to, varintField(3, 1))), "tron: TransferContract.owner_address at byte 78: address has 22 bytes, want 21"},
		{"address empty", rawOf(1, join(lengthField(1, nil), to, varintField(3, 1))), "tron: TransferContract.owner_address at byte 78: address has 0 bytes, want 21"},
		{"address of the test network of old", rawOf(1, join(lengthField(1, append([]byte{0xa0}, owner[1:]...)), to, varintField(3, 1))), "tron: TransferContract.owner_address at byte 78: address starts with a0, want 41"},
		{"no owner", rawOf(1, join(to, varintField(3, 1))), "tron: TransferContract.owner_address at byte 101: missing: without it the network refuses the transaction"},
		{"no receiver", rawOf(1, join(from, varintField(3, 1))), "tron: TransferContract.to_address at byte 101: missing: without it the network refuses the transaction"},
		{"no amount", rawOf(1, join(from, to)), "tron: TransferContract.amount at byte 122: missing: the network requires a value above 0"},
		{"amount 0", rawOf(1, join(from, to, varintField(3, 0))), "tron: TransferContract.amount at byte 123: 0: the network requires a value above 0"},
		{"amount negative", rawOf(1, join(from, to, varintField(3, -100))), "tron: TransferContract.amount at byte 123: -100: the network requires a value above 0"},
		{"amount twice, of which the last counts", rawOf(1, join(from, to, varintField(3, 1), varintField(3, 1_000_000))), "tron: TransferContract.amount at byte 124: repeated: this field comes once"},
		{"amount packed", rawOf(1, join(from, to, lengthField(3, []byte{1, 2}))), "tron: TransferContract.amount at byte 122: wire type LEN, want VARINT"},
		{"receiver before owner", rawOf(1, join(to, from, varintField(3, 1))), "tron: TransferContract.owner_address at byte 99: out of order: fields stand in ascending order, each once"},
		{"receiver twice", rawOf(1, join(from, to, lengthField(2, chaintest.Unhex(t, contractHex)), varintField(3, 1))), "tron: TransferContract.to_address at byte 122: repeated: this field comes once"},
		{"unknown field", rawOf(1, join(transfer(t), varintField(4, 1))), "tron: TransferContract at byte 124: unknown field 4"},
		{"to oneself", rawOf(1, join(from, lengthField(2, owner), varintField(3, 1))), "tron: TransferContract.to_address at byte 101: the same account as owner_address: the network refuses a transfer to oneself"},
		{"token to oneself", rawOf(2, join(lengthField(1, []byte("1002000")), lengthField(2, owner), lengthField(3, owner), varintField(4, 1))), "tron: TransferAssetContract.to_address at byte 115: the same account as owner_address: the network refuses a transfer to oneself"},
		{"resources to oneself", rawOf(57, join(from, varintField(3, 1_000_000), lengthField(4, owner))), "tron: DelegateResourceContract.receiver_address at byte 113: the same account as owner_address: the network refuses a transfer to oneself"},
		{"voting power delegated", rawOf(57, join(from, varintField(2, 2), varintField(3, 1_000_000), lengthField(4, other))), "tron: DelegateResourceContract.resource at byte 108: 2 is not one of its values: 0 BANDWIDTH, 1 ENERGY"},
		{"unknown resource", rawOf(54, join(from, varintField(2, 1_000_000), varintField(3, 3))), "tron: FreezeBalanceV2Contract.resource at byte 111: 3 is not one of its values: 0 BANDWIDTH, 1 ENERGY, 2 TRON_POWER"},
		{"resource negative", rawOf(54, join(from, varintField(2, 1_000_000), varintField(3, -1))), "tron: FreezeBalanceV2Contract.resource at byte 111: -1 is not one of its values: 0 BANDWIDTH, 1 ENERGY, 2 TRON_POWER"},
		{"flag 2", rawOf(57, join(from, varintField(3, 1_000_000), lengthField(4, other), varintField(5, 2))), "tron: DelegateResourceContract.lock at byte 135: 2 is not a bool: 1, or left out"},
		{"flag 0 written", rawOf(57, join(from, varintField(3, 1_000_000), lengthField(4, other), varintField(5, 0))), "tron: DelegateResourceContract.lock at byte 135: 0 is the default, which the canonical encoding leaves out"},
		{"lock period negative", rawOf(57, join(from, varintField(3, 1_000_000), lengthField(4, other), varintField(6, -1))), "tron: DelegateResourceContract.lock_period at byte 135: -1 is negative"},
		{"same tokens", rawOf(41, join(from, lengthField(2, []byte("_")), varintField(3, 1), lengthField(4, []byte("_")), varintField(5, 1))), "tron: ExchangeCreateContract.second_token_id at byte 112: the same token as first_token_id"},
		{"order of the same tokens", rawOf(52, join(from, lengthField(2, []byte("_")), varintField(3, 1), lengthField(4, []byte("_")), varintField(5, 1))), "tron: MarketSellAssetContract.buy_token_id at byte 113: the same token as sell_token_id"},
		{"no votes", rawOf(4, from), "tron: VoteWitnessContract.votes at byte 102: missing: without it the network refuses the transaction"},
		{"31 votes", rawOf(4, join(from, bytes.Repeat(lengthField(2, vote), 31))), "tron: VoteWitnessContract.votes at byte 917: more than 30 of them"},
		{"vote of 0", rawOf(4, join(from, lengthField(2, join(lengthField(1, other), varintField(2, 0))))), "tron: Vote.vote_count at byte 128: 0: the network requires a value above 0"},
		{"vote for a bad address", rawOf(4, join(from, lengthField(2, vote), lengthField(2, join(lengthField(1, other[:20]), varintField(2, 1))))), "tron: Vote.vote_address at byte 135: 20 bytes: this looks like an Ethereum address; an address of Tron has 41 in front and 21 bytes"},
		{"votes not together", rawOf(4, join(from, lengthField(2, vote), varintField(3, 1), lengthField(2, vote))), "tron: VoteWitnessContract.votes at byte 133: out of order: fields stand in ascending order, each once"},
		{"call value negative", rawOf(31, join(trigger, varintField(3, -1))), "tron: TriggerSmartContract.call_value at byte 127: -1 is negative"},
		{"empty data", rawOf(31, join(trigger, lengthField(4, nil))), "tron: TriggerSmartContract.data at byte 128: empty: the canonical encoding leaves an empty field out"},
		{"token value without token", rawOf(31, join(trigger, varintField(5, 1))), "tron: TriggerSmartContract.call_token_value at byte 127: there is no token_id that says of which token"},
		{"token id too low", rawOf(31, join(trigger, varintField(5, 1), varintField(6, 1_000_000))), "tron: TriggerSmartContract.token_id at byte 129: 1000000: ids of tokens start at 1000001"},
		{"commission over 100", rawOf(49, join(from, varintField(2, 101))), "tron: UpdateBrokerageContract.brokerage at byte 107: 101 is outside 0 to 100"},
		{"commission over 32 bits", rawOf(49, join(from, varintField(2, 1<<32|20))), "tron: UpdateBrokerageContract.brokerage at byte 107: 4294967316 is outside 0 to 100"},
		{"percentage over 100", rawOf(33, join(from, lengthField(2, chaintest.Unhex(t, contractHex)), varintField(3, 101))), "tron: UpdateSettingContract.consume_user_resource_percent at byte 128: 101 is outside 0 to 100"},
		{"energy limit 0", rawOf(45, join(from, lengthField(2, chaintest.Unhex(t, contractHex)))), "tron: UpdateEnergyLimitContract.origin_energy_limit at byte 131: missing: the network requires a value above 0"},
		{"supply 0", rawOf(6, join(from, lengthField(2, []byte("T")), varintField(6, 1), varintField(8, 1), moments, site)), "tron: AssetIssueContract.total_supply at byte 134: missing: the network requires a value above 0"},
		{"11 frozen supplies", rawOf(6, join(from, lengthField(2, []byte("T")), varintField(4, 1), bytes.Repeat(lengthField(5, join(varintField(1, 1), varintField(2, 1))), 11), varintField(6, 1), varintField(8, 1), moments, site)), "tron: AssetIssueContract.frozen_supply at byte 170: more than 10 of them"},
		{"stake of less than 1 TRX", rawOf(54, join(from, varintField(2, 999_999))), "tron: FreezeBalanceV2Contract.frozen_balance at byte 107: 999999 is below 1000000, the least that the network accepts"},
		{"resources of less than 1 TRX", rawOf(57, join(from, varintField(3, 999_999), lengthField(4, other))), "tron: DelegateResourceContract.balance at byte 108: 999999 is below 1000000, the least that the network accepts"},
		{"account name of 201 bytes", rawOf(10, join(lengthField(1, bytes.Repeat([]byte("n"), 201)), lengthField(2, owner))), "tron: AccountUpdateContract.account_name at byte 87: 201 bytes, at most 200 are accepted"},
		{"account id of 7 bytes", rawOf(19, join(lengthField(1, []byte("1234567")), lengthField(2, owner))), "tron: SetAccountIdContract.account_id at byte 82: 7 bytes, at least 8 are accepted"},
		{"account id of 33 bytes", rawOf(19, join(lengthField(1, bytes.Repeat([]byte("i"), 33)), lengthField(2, owner))), "tron: SetAccountIdContract.account_id at byte 82: 33 bytes, at most 32 are accepted"},
		{"account id with a space", rawOf(19, join(lengthField(1, []byte("1234 5678")), lengthField(2, owner))), "tron: SetAccountIdContract.account_id at byte 82: \"1234 5678\": the network accepts ASCII from ! to ~, without spaces"},
		{"website of 257 bytes", rawOf(5, join(from, lengthField(2, bytes.Repeat([]byte("u"), 257)))), "tron: WitnessCreateContract.url at byte 110: 257 bytes, at most 256 are accepted"},
		{"token by its name", rawOf(2, join(lengthField(1, []byte("BTT")), from2, to3, varintField(4, 1))), "tron: TransferAssetContract.asset_name at byte 83: \"BTT\" is not the id of a token: a number in decimal"},
		{"token 0", rawOf(2, join(lengthField(1, []byte("01002000")), from2, to3, varintField(4, 1))), "tron: TransferAssetContract.asset_name at byte 83: \"01002000\" is not the id of a token: a number in decimal"},
		{"TRX as a token", rawOf(2, join(lengthField(1, []byte("_")), from2, to3, varintField(4, 1))), "tron: TransferAssetContract.asset_name at byte 83: \"_\" is not the id of a token: a number in decimal"},
		{"order of a token by its name", rawOf(52, join(from, lengthField(2, []byte("TRX")), varintField(3, 1), lengthField(4, []byte("_")), varintField(5, 1))), "tron: MarketSellAssetContract.sell_token_id at byte 108: \"TRX\" is not the id of a token: a number in decimal, or _ for TRX"},
		{"token without a website", rawOf(6, join(asset(), moments)), "tron: AssetIssueContract.url at byte 114: missing: without it the network refuses the transaction"},
		{"token without a sale", rawOf(6, join(asset(), site)), "tron: AssetIssueContract.start_time at byte 132: missing: the network requires a value above 0"},
		{"sale that ends as it starts", rawOf(6, join(asset(), varintField(9, 5), varintField(10, 5), site)), "tron: AssetIssueContract.end_time at byte 113: 5 is not after start_time 5"},
		{"token called TRX", rawOf(6, join(from, lengthField(2, []byte("trX")), varintField(4, 1), varintField(6, 1), varintField(8, 1), moments, site)), "tron: AssetIssueContract.name at byte 103: the network allows no token the name \"trX\""},
		{"token with a space in its name", rawOf(6, join(from, lengthField(2, []byte("a b")), varintField(4, 1), varintField(6, 1), varintField(8, 1), moments, site)), "tron: AssetIssueContract.name at byte 103: \"a b\": the network accepts ASCII from ! to ~, without spaces"},
		{"7 decimals", rawOf(6, join(asset()[:len(asset())-2], varintField(7, 7), varintField(8, 1), moments, site)), "tron: AssetIssueContract.precision at byte 109: 7 is outside 0 to 6"},
		{"bandwidth used already", rawOf(6, join(asset(), moments, site, varintField(24, 1))), "tron: AssetIssueContract.public_free_asset_net_usage at byte 136: the network only accepts 0: leave it out"},
		{"more frozen than there is", rawOf(6, join(from, lengthField(2, []byte("T")), varintField(4, 10), bytes.Repeat(lengthField(5, join(varintField(1, 6), varintField(2, 1))), 2), varintField(6, 1), varintField(8, 1), moments, site)), "tron: FrozenSupply.frozen_amount at byte 115: more is frozen than the total supply"},
		{"frozen for over ten years", rawOf(6, join(from, lengthField(2, []byte("T")), varintField(4, 10), lengthField(5, join(varintField(1, 6), varintField(2, 3653))), varintField(6, 1), varintField(8, 1), moments, site)), "tron: FrozenSupply.frozen_days at byte 111: 3653 is outside 1 to 3652"},
		{"account id missing", rawOf(19, lengthField(2, owner)), "tron: SetAccountIdContract.account_id at byte 103: missing: without it the network refuses the transaction"},
	})
}

func TestRefusedNestedMessages(t *testing.T) {
	owner, other := chaintest.Unhex(t, ownerHex), chaintest.Unhex(t, otherHex)
	from, many := lengthField(1, owner), []byte{}
	for key := range int64(257) {
		many = append(many, lengthField(2, join(varintField(1, key), varintField(2, 1)))...)
	}
	origin, energy := lengthField(1, owner), varintField(8, 1)
	creation := func(parts ...[]byte) []byte { return rawOf(30, join(from, lengthField(2, join(parts...)))) }
	parameter := func(parts ...[]byte) []byte { return rawOf(16, join(from, lengthField(2, join(parts...)))) }
	checkRefusals(t, chains.ErrMalformed, []refusal{
		{"creation without a contract", rawOf(30, from), "tron: CreateSmartContract.new_contract at byte 102: missing: without it the network refuses the transaction"},
		{"origin is not the owner", creation(lengthField(1, other), energy), "tron: SmartContract.origin_address at byte 106: another account than owner_address: the network requires the same"},
		{"token value without token", rawOf(30, join(from, lengthField(2, join(origin, energy)), varintField(3, 1))), "tron: CreateSmartContract.call_token_value at byte 130: there is no token_id that says of which token"},
		{"no energy limit", creation(origin), "tron: SmartContract.origin_energy_limit at byte 127: missing: the network requires a value above 0"},
		{"percentage over 100", creation(origin, varintField(6, 101), energy), "tron: SmartContract.consume_user_resource_percent at byte 128: 101 is outside 0 to 100"},
		{"name is not UTF-8", creation(origin, lengthField(7, []byte{0xc3, 0x28}), energy), "tron: SmartContract.name at byte 129: not UTF-8, which a string is"},
		{"name of 33 bytes", creation(origin, lengthField(7, bytes.Repeat([]byte("n"), 33)), energy), "tron: SmartContract.name at byte 131: 33 bytes, at most 32 are accepted"},
		{"code hash", creation(origin, energy, lengthField(9, make([]byte, 32))), "tron: SmartContract.code_hash at byte 131: the node computes it, and refuses it in a transaction since 4.8.2.2"},
		{"transaction hash", creation(origin, energy, lengthField(10, make([]byte, 32))), "tron: SmartContract.trx_hash at byte 131: the node computes it, and refuses it in a transaction since 4.8.2.2"},
		{"value negative", creation(origin, varintField(5, -1), energy), "tron: SmartContract.call_value at byte 128: -1 is negative"},
		{"unknown field in ABI", creation(origin, lengthField(3, varintField(2, 1)), energy), "tron: ABI at byte 129: unknown field 2"},
		{"unknown kind of ABI entry", creation(origin, lengthField(3, lengthField(1, varintField(6, 7))), energy), "tron: ABI.Entry.type at byte 132: 7 is not one of its values: 0 UnknownEntryType, 1 Constructor, 2 Function, 3 Event, 4 Fallback, 5 Receive, 6 Error"},
		{"ABI parameter with flag 3", creation(origin, lengthField(3, lengthField(1, lengthField(4, varintField(1, 3)))), energy), "tron: ABI.Entry.Param.indexed at byte 134: 3 is not a bool: 1, or left out"},
		{"ABI twice", creation(origin, lengthField(3, nil), lengthField(3, nil), energy), "tron: SmartContract.abi at byte 129: repeated: this field comes once"},
		{"no parameters", rawOf(16, from), "tron: ProposalCreateContract.parameters at byte 105: missing: without it the network refuses the transaction"},
		{"257 parameters", rawOf(16, join(from, many)), "tron: ProposalCreateContract.parameters at byte 1774: more than 256 of them"},
		{"parameter without value", parameter(varintField(1, 1)), "tron: parameters.value at byte 109: missing: both fields of a map's entry are written, also when 0"},
		{"parameter without key", parameter(varintField(2, 1)), "tron: parameters.key at byte 109: missing: both fields of a map's entry are written, also when 0"},
		{"parameter key negative", parameter(varintField(1, -1), varintField(2, 1)), "tron: parameters.key at byte 108: -1 is negative"},
		{"parameter twice", rawOf(16, join(from, lengthField(2, join(varintField(1, 1), varintField(2, 1))), lengthField(2, join(varintField(1, 1), varintField(2, 9))))), "tron: parameters.key at byte 114: 1 is there twice: of a map's equal keys the last one counts"},
	})
}

func TestRefusedPermissions(t *testing.T) {
	owner, other := chaintest.Unhex(t, ownerHex), chaintest.Unhex(t, otherHex)
	from := lengthField(1, owner)
	key := lengthField(7, join(lengthField(1, owner), varintField(2, 1)))
	key2 := lengthField(7, join(lengthField(1, other), varintField(2, 1)))
	threshold, mask := varintField(4, 1), lengthField(6, make([]byte, 32))
	ownerPermission := lengthField(2, join(threshold, key))
	active := lengthField(4, join(varintField(1, 2), threshold, mask, key))
	update := func(parts ...[]byte) []byte { return rawOf(46, join(from, join(parts...))) }
	owned := func(parts ...[]byte) []byte { return update(lengthField(2, join(parts...)), active) }
	large := lengthField(7, join(lengthField(1, other), varintField(2, 1<<62)))
	six := []byte{}
	for n := range byte(6) {
		six = append(six, lengthField(7, join(lengthField(1, append(bytes.Clone(owner[:20]), n)), varintField(2, 1)))...)
	}
	checkRefusals(t, chains.ErrMalformed, []refusal{
		{"no owner permission", update(active), "tron: AccountPermissionUpdateContract.owner at byte 183: missing: without it no key could sign for the account"},
		{"no active permission", update(ownerPermission), "tron: AccountPermissionUpdateContract.actives at byte 145: missing: without it the network refuses the transaction"},
		{"nine active permissions", update(ownerPermission, bytes.Repeat(active, 9)), "tron: AccountPermissionUpdateContract.actives at byte 686: more than 8 of them"},
		{"no keys", owned(threshold), "tron: Permission.keys at byte 120: missing: without it the network refuses the transaction"},
		{"six keys", owned(threshold, six), "tron: Permission.keys at byte 259: more than 5 of them"},
		{"no threshold", owned(key), "tron: Permission.threshold at byte 145: missing: the network requires a value above 0"},
		{"threshold 0", owned(varintField(4, 0), key), "tron: Permission.threshold at byte 119: 0: the network requires a value above 0"},
		{"threshold out of reach", owned(varintField(4, 3), key, key2), "tron: Permission.threshold at byte 120: 3 is above 2, the sum of all weights: no set of keys could sign"},
		{"weight 0", owned(threshold, lengthField(7, join(lengthField(1, owner), varintField(2, 0)))), "tron: Key.weight at byte 146: 0: the network requires a value above 0"},
		{"weights over 63 bits", owned(threshold, lengthField(7, join(lengthField(1, owner), varintField(2, 1<<62))), large), "tron: Key.weight at byte 182: the sum of the weights is over 63 bits"},
		{"key twice", owned(threshold, key, key), "tron: Key.address at byte 152: this address has a key in the permission already"},
		{"active permission as owner", update(lengthField(2, join(varintField(1, 2), threshold, mask, key)), active), "tron: Permission.type at byte 120: 2 stands where 0 (Owner) belongs"},
		{"owner permission as active", update(ownerPermission, lengthField(4, join(threshold, key))), "tron: Permission.type at byte 149: 0 stands where 2 (Active) belongs"},
		{"owner permission as witness", update(ownerPermission, lengthField(3, join(threshold, key)), active), "tron: Permission.type at byte 150: 0 stands where 1 (Witness) belongs"},
		{"active permission without operations", update(ownerPermission, lengthField(4, join(varintField(1, 2), threshold, key))), "tron: Permission.operations at byte 180: missing: 32 bytes that say what the permission is for"},
		{"owner permission with operations", owned(threshold, mask, key), "tron: Permission.operations at byte 123: only an active permission has operations"},
		{"operations of 31 bytes", update(ownerPermission, lengthField(4, join(varintField(1, 2), threshold, lengthField(6, make([]byte, 31)), key))), "tron: Permission.operations at byte 155: 31 bytes, want 32: one bit for each contract type"},
		{"parent", owned(threshold, varintField(5, 1), key), "tron: Permission.parent_id at byte 120: the network only accepts 0: leave it out"},
		{"witness permission of two keys", update(ownerPermission, lengthField(3, join(varintField(1, 1), threshold, key, key2)), active), "tron: Permission.keys at byte 154: a witness permission has one key"},
		{"permission with a name of 33 bytes", owned(lengthField(3, bytes.Repeat([]byte("n"), 33)), threshold, key), "tron: Permission.permission_name at byte 121: more than 32 characters"},
		{"unknown type", owned(varintField(1, 3), threshold, key), "tron: Permission.type at byte 119: 3 is not one of its values: 0 Owner, 1 Witness, 2 Active"},
	})
}

func TestRefusedSignatures(t *testing.T) {
	raw := rawOf(1, transfer(t))
	tx := parse(t, raw)
	one, two := signedBy(t, tx, oneSecret), signedBy(t, tx, twoSecret)
	badV, noPoint := bytes.Clone(one), bytes.Clone(one)
	badV[64] = 29
	clear(noPoint[:32])
	highV := bytes.Clone(one)
	highV[64] = 2
	five := [][]byte{}
	for n := range 5 {
		secret := strings.Repeat("00", 31) + "1" + string(rune('0'+n))
		five = append(five, signedBy(t, tx, secret))
	}
	checkRefusals(t, chains.ErrMalformed, []refusal{
		{"64 bytes", wholeOf(raw, one[:64]), "tron: Transaction.signature at byte 136: 64 bytes, want 65: r, s and v"},
		{"66 bytes", wholeOf(raw, append(bytes.Clone(one), 0)), "tron: Transaction.signature at byte 136: 66 bytes, want 65: r, s and v"},
		{"empty", wholeOf(raw, nil), "tron: Transaction.signature at byte 136: 0 bytes, want 65: r, s and v"},
		{"v 1d", wholeOf(raw, badV), "tron: Transaction.signature at byte 136: v is 1d, want 1b or 1c (or 00 or 01)"},
		{"v 02", wholeOf(raw, highV), "tron: Transaction.signature at byte 136: v is 02, want 1b or 1c (or 00 or 01)"},
		{"r 0", wholeOf(raw, noPoint), "tron: Transaction.signature at byte 136: no key can have made it"},
		{"same signature twice", wholeOf(raw, one, two, one), "tron: Transaction.signature at byte 270: TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC has signed already at byte 136: each signer signs once"},
		{"same signer with s on the other side", wholeOf(raw, one, malleated(one)), "tron: Transaction.signature at byte 203: TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC has signed already at byte 136: each signer signs once"},
		{"same signer with another v byte", wholeOf(raw, one, bareV(one)), "tron: Transaction.signature at byte 203: TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC has signed already at byte 136: each signer signs once"},
		{"same signer with another nonce", wholeOf(raw, two, otherNonce(t, tx, twoSecret)), "tron: Transaction.signature at byte 203: TDvSsdrNM5eeXNL3czpa6AxLDHZA9nwe9K has signed already at byte 136: each signer signs once"},
		{"five signatures", wholeOf(raw, five...), "tron: Transaction.signature at byte 404: 5 signatures already: the network accepts at most 5"},
		{"result", append(wholeOf(raw, one), lengthField(5, nil)...), "tron: Transaction.ret at byte 201: a result: this transaction was executed already"},
		{"raw_data twice, to be merged", join(wholeOf(raw), wholeOf(raw)), "tron: Transaction.raw_data at byte 134: repeated: this field comes once"},
		{"signature before raw_data", join(lengthField(2, one), wholeOf(raw)), "tron: raw_data at byte 0: unknown field 2"},
		{"unknown field", append(wholeOf(raw), varintField(3, 1)...), "tron: Transaction at byte 134: unknown field 3"},
		{"trailing byte", append(wholeOf(raw, one), 0), "tron: Transaction at byte 201: field number 0 does not exist in Protocol Buffers"},
		{"raw_data in a raw_data", wholeOf(wholeOf(raw)), "tron: raw_data.ref_block_bytes at byte 3: 134 bytes, want 2: the last two bytes of a recent block's number"},
	})
}

// TestSwallowed has what proto.Unmarshal silently merges, reorders, replaces or keeps
// aside.
func TestSwallowed(t *testing.T) {
	from, to := lengthField(1, chaintest.Unhex(t, ownerHex)), lengthField(2, chaintest.Unhex(t, otherHex))
	amount, large := varintField(3, 1), varintField(3, 1_000_000_000)
	contract := func(message []byte) []byte { return wrapped(1, "TransferContract", message) }
	good := newFrame(contract(join(from, to, amount)))
	split := good
	split.contract = join(lengthField(11, typeField(1)), lengthField(11, lengthField(2, anyOf("TransferContract", join(from, to, amount)))))
	late := good
	late.blockBytes, late.after = nil, good.blockBytes
	unknown := good
	unknown.after = lengthField(99, []byte("hidden"))
	for name, raw := range map[string][]byte{
		"last amount counts":    newFrame(contract(join(from, to, amount, large))).bytes(),
		"fields in any order":   newFrame(contract(join(amount, to, from))).bytes(),
		"last receiver counts":  newFrame(contract(join(from, to, lengthField(2, chaintest.Unhex(t, contractHex)), amount))).bytes(),
		"unknown field is kept": unknown.bytes(),
		"frame in any order":    late.bytes(),
		"contract in two":       split.bytes(),
		"long varint":           newFrame(contract(join(from, to, []byte{0x18, 0x81, 0x00}))).bytes(),
		"default written":       newFrame(join(typeField(1), lengthField(2, anyOf("TransferContract", join(from, to, amount))), varintField(5, 0))).bytes(),
		"raw_data merged":       join(wholeOf(good.bytes()), lengthField(1, varintField(18, 7))),
	} {
		t.Run(name, func(t *testing.T) {
			message := "Transaction.raw"
			if strings.HasPrefix(name, "raw_data") {
				message = "Transaction"
			}
			if err := proto.Unmarshal(raw, newOracle(message)); err != nil {
				t.Fatalf("the oracle does not swallow it: %v", err)
			}
			if _, err := (Chain{}).Parse(raw); !errors.Is(err, chains.ErrMalformed) {
				t.Errorf("accepted %x: %v", raw, err)
			}
		})
	}
}

// TestAcceptedAtBounds has values at the bounds beyond which refusals are tested.
func TestAcceptedAtBounds(t *testing.T) {
	owner := lengthField(1, chaintest.Unhex(t, ownerHex))
	moments, site := join(varintField(9, 5), varintField(10, 6)), lengthField(21, []byte("https://example.org"))
	issue := func(frozen ...[]byte) []byte {
		return rawOf(6, join(owner, lengthField(2, []byte("T")), varintField(4, 10), join(frozen...), varintField(6, 1), varintField(8, 1), moments, site))
	}
	keyOf := func(address string, weight int64) []byte {
		return lengthField(7, join(lengthField(1, chaintest.Unhex(t, address)), varintField(2, weight)))
	}
	permission := func(parts ...[]byte) []byte {
		active := lengthField(4, join(varintField(1, 2), varintField(4, 1), lengthField(6, make([]byte, 32)), keyOf(ownerHex, 1)))
		return rawOf(46, join(owner, lengthField(2, join(parts...)), active))
	}
	half := lengthField(5, join(varintField(1, 5), varintField(2, 3652)))
	for name, raw := range map[string][]byte{
		"the lowest id of a token":       rawOf(31, join(owner, lengthField(2, chaintest.Unhex(t, contractHex)), varintField(5, 1), varintField(6, lowestTokenID))),
		"all of the supply frozen":       issue(half, half),
		"10 frozen supplies":             issue(bytes.Repeat(lengthField(5, join(varintField(1, 1), varintField(2, 1))), 10)),
		"weights of 63 bits":             permission(varintField(4, math.MaxInt64), keyOf(ownerHex, math.MaxInt64-1), keyOf(otherHex, 1)),
		"a name of 32 characters":        permission(lengthField(3, []byte(strings.Repeat("ß", 32))), varintField(4, 1), keyOf(ownerHex, 1)),
		"a threshold of all the weights": permission(varintField(4, 3), keyOf(ownerHex, 1), keyOf(otherHex, 2)),
	} {
		if _, err := (Chain{}).Parse(raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	raw := rawOf(1, transfer(t))
	size := parse(t, raw).signedSize() + resultRoom
	for limit, want := range map[int]bool{size: true, size - 1: false} {
		if _, err := New(Limits{MaxSize: limit}).Parse(raw); (err == nil) != want {
			t.Errorf("limit of %d, %d bytes with its result: %v", limit, size, err)
		}
	}
}
