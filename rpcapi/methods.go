package rpcapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/inbound"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
)

// Version is the version of clef's external API that account_version answers.
const Version = "6.1.0"

// call is one call by a user.
type call struct {
	ctx            context.Context
	api            *Handler
	caller         *countersign.Caller
	organizationID string
	memory         *inbound.Reservation
	params         []strictjson.Value
	text           []byte // of params
}

// method is one that is served.
type method struct {
	do      func(*call) (any, error)
	limit   int      // bytes of the parameters
	takes   []string // names of the parameters, all of which are required
	ignores string   // a string that may follow them, which is not looked at
}

// maxMessage is the length of the longest parameters without a transaction, in bytes: that of
// such a request of the HTTP API.
const maxMessage = 256 << 10

// methods are what is served. Those that are not, but that clients ask for, are in cures.
var methods = map[string]method{
	"eth_signTransaction":     {(*call).signTransaction, MaxBodyBytes, []string{"transaction"}, ""},
	"account_signTransaction": {(*call).signTransactionBoth, MaxBodyBytes, []string{"transaction"}, "methodSelector"},
	"eth_signTypedData":       {(*call).signTypedData, maxMessage, []string{"address", "data"}, ""},
	"eth_signTypedData_v4":    {(*call).signTypedData, maxMessage, []string{"address", "data"}, ""},
	"personal_sign": {func(c *call) (any, error) { return c.signPersonal(1, 0) }, maxMessage,
		[]string{"data", "address"}, "password"},
	"eth_sign":         {func(c *call) (any, error) { return c.signPersonal(0, 1) }, maxMessage, []string{"address", "data"}, ""},
	"account_signData": {(*call).signData, maxMessage, []string{"contentType", "address", "data"}, ""},
	"eth_accounts":     {(*call).accounts, maxMessage, nil, ""},
	"account_list":     {(*call).accounts, maxMessage, nil, ""},
	"eth_chainId":      {(*call).chainID, maxMessage, nil, ""},
	"account_version":  {func(*call) (any, error) { return Version, nil }, maxMessage, nil, ""},
	"health_status":    {func(*call) (any, error) { return "ok", nil }, maxMessage, nil, ""},
}

// cures are answers to methods that clients call and that are not served.
var cures = map[string]string{
	"eth_sendTransaction": "nothing is broadcast here: sign with eth_signTransaction, and send the result " +
		"to a node with eth_sendRawTransaction",
	"eth_sendRawTransaction":      "nothing is broadcast here: send it to a node",
	"eth_signTypedData_v3":        "use eth_signTypedData_v4",
	"eth_signTypedData_v1":        "use eth_signTypedData_v4",
	"account_new":                 "keys are made with 'countersign keys generate'",
	"account_ecRecover":           "signatures are verified by a node or a library",
	"opsigner_signBlockPayload":   "it signs a block's hash, and a hash is never signed here",
	"opsigner_signBlockPayloadV2": "it signs a block's hash, and a hash is never signed here",
	"account_signGnosisSafeTx":    "send the Safe transaction as typed data, with account_signData and data/typed",
}

// builtOf is how many times the length of its parameters a call holds at a time, of what is built
// from them: their texts, the transaction, its record, the signed one and its text. Up to freeBuilt
// bytes of it do not count.
const (
	builtOf   = 8
	freeBuilt = builtOf * inbound.FreeBody
)

// carryOut carries out a request within the memory that its body has. A panic is a fault of the
// server, and ends this request alone.
func (h *Handler) carryOut(ctx context.Context, who identity, r *request, memory *inbound.Reservation) (out answer) {
	built := max(0, builtOf*len(r.params)-freeBuilt)
	if !memory.Take(built) {
		return answer{id: r.id, fault: errNoRoom()}
	}
	defer memory.Give(built)
	ctx, cancel := context.WithTimeout(ctx, h.options.Timeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			h.options.Logger.Error("panic", "method", r.method, "fault", cause, "stack", string(debug.Stack()))
			if h.options.Observer != nil {
				h.options.Observer.Observe(countersign.Observation{Operation: r.method, Reason: activity.ReasonInternal})
			}
			out = answer{id: r.id, fault: faultOf(errors.New("panic"))}
		}
	}()
	result, err := h.result(ctx, who, r, memory)
	if err != nil {
		return answer{id: r.id, fault: faultOf(err)}
	}
	return answer{id: r.id, result: result}
}

// errNoRoom refuses a call for which there is no memory at the moment.
func errNoRoom() *fault {
	return &fault{codeRefused, "not carried out: " + inbound.ErrNoRoom.Error(), &data{Reason: activity.ReasonUnavailable, RetryAfter: "1s"}}
}

func (h *Handler) result(ctx context.Context, who identity, r *request, memory *inbound.Reservation) (any, error) {
	method, served := methods[r.method]
	if !served {
		cure := cmp.Or(cures[r.method], "this is a signer: ask a node about a chain")
		return nil, &fault{codeMethod, fmt.Sprintf("method %q is not served: %s", r.method, cure), nil}
	}
	user, err := h.options.Directory.User(ctx, who.organizationID, who.userID)
	if err != nil {
		return nil, &fault{codeRefused, "the user of this caller is not in the directory", &data{Reason: activity.ReasonNotAuthorized}}
	}
	granted, err := h.options.Users().Granted(who.organizationID, who.userID, who.scheme)
	if err != nil {
		return nil, &fault{codeRefused, errUnknown.Error(), &data{Reason: activity.ReasonNotAuthorized}}
	}
	c := &call{ctx: ctx, api: h, caller: h.engine.As(*user, who.scheme, granted...),
		organizationID: who.organizationID, memory: memory, text: r.params}
	if err := c.read(method); err != nil {
		return nil, err
	}
	return method.do(c)
}

// read reads the parameters, of which there must be as many as the method takes.
func (c *call) read(m method) error {
	if len(c.text) > m.limit {
		return &fault{codeParams, fmt.Sprintf("params: %d bytes, at most %d are allowed", len(c.text), m.limit), nil}
	}
	if c.text != nil {
		err := strictjson.ReadValue(c.text, "params", func(r *strictjson.Reader) error {
			most := len(m.takes)
			if m.ignores != "" {
				most++
			}
			return atMost(r, "params", most, func(r *strictjson.Reader) error {
				var value strictjson.Value
				if err := r.Into(&value); err != nil {
					return err
				}
				if len(c.params) < len(m.takes) {
					c.params = append(c.params, value)
				} else if value.Kind != '"' && value.Kind != 'n' {
					return invalid(m.ignores, "expected a string or null")
				}
				return nil
			})
		})
		if err != nil {
			return paramFault(err)
		}
	}
	if len(c.params) != len(m.takes) {
		return &fault{codeParams, fmt.Sprintf("params: %d, expected %d: %q", len(c.params), len(m.takes), m.takes), nil}
	}
	return nil
}

// atMost reads an array, and nothing beyond its first elements.
func atMost(r *strictjson.Reader, name string, most int, each func(*strictjson.Reader) error) error {
	n := 0
	return r.Array(func(r *strictjson.Reader) error {
		if n++; n > most {
			return invalid(name, "more than %d", most)
		}
		return each(r)
	})
}

func (c *call) str(i int, name string) (text string, err error) {
	if c.params[i].Kind != '"' {
		return "", invalid(name, "params[%d]: expected a string", i)
	}
	err = json.Unmarshal(c.params[i].Of(c.text), &text)
	return text, err
}

// address returns a parameter that is an address, with its checksum.
func (c *call) address(i int, name string) (string, error) {
	text, err := c.str(i, name)
	if err != nil {
		return "", err
	}
	var check checker
	address := check.address(name, text)
	return address.Hex(), check.err
}

// signed signs a transaction and returns its bytes.
func (c *call) signed() ([]byte, error) {
	if c.params[0].Kind != '{' {
		return nil, invalid("transaction", "params[0]: expected an object")
	}
	object, err := readObject(c.params[0].Of(c.text))
	if err != nil {
		return nil, err
	}
	from, unsigned, err := object.transaction()
	if err != nil {
		return nil, err
	}
	result, err := c.caller.SignTransaction(c.ctx, c.organizationID, activity.SignTransactionIntent{
		SignWith: from.Hex(), Type: activity.TransactionTypeEthereum, UnsignedTransaction: hex.EncodeToString(unsigned),
	})
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(result.SignedTransaction)
}

func (c *call) signTransaction() (any, error) {
	raw, err := c.signed()
	return hexText(raw), err
}

func (c *call) signTransactionBoth() (any, error) {
	raw, err := c.signed()
	if err != nil {
		return nil, err
	}
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(raw); err != nil {
		return nil, err
	}
	return struct {
		Raw string             `json:"raw"`
		Tx  *types.Transaction `json:"tx"`
	}{hexText(raw), tx}, nil
}

func (c *call) signTypedData() (any, error) { return c.signTyped(0, 1) }

// signTyped signs typed data, which is an object, a string with its JSON text, or that in hex.
func (c *call) signTyped(address, data int) (any, error) {
	from, err := c.address(address, "address")
	if err != nil {
		return nil, err
	}
	text := c.params[data].Of(c.text)
	if c.params[data].Kind == '"' {
		quoted, err := c.str(data, "data")
		if err != nil {
			return nil, err
		}
		text = []byte(quoted)
		if raw, err := hexBytes(quoted); err == nil {
			text = raw
		}
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, invalid("data", "expected the JSON of typed data, {types, primaryType, domain, message}: %v", err)
	}
	return c.sign(from, compact.String(), activity.EncodingEIP712, activity.HashNone)
}

// signPersonal signs the bytes of a text, with the prefix of EIP-191.
func (c *call) signPersonal(address, message int) (any, error) {
	from, err := c.address(address, "address")
	if err != nil {
		return nil, err
	}
	text, err := c.str(message, "data")
	if err != nil {
		return nil, err
	}
	raw, err := hexBytes(text)
	if err != nil {
		return nil, invalid("data", "expected the bytes of the text, in hex with 0x")
	}
	preimage := personal.Preimage(personal.EthereumPrefix, raw)
	return c.sign(from, hex.EncodeToString(preimage), activity.EncodingHex, activity.HashKeccak256)
}

// signData is clef's method for messages: the media type says what they are.
func (c *call) signData() (any, error) {
	kind, err := c.str(0, "contentType")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "text/plain":
		return c.signPersonal(1, 2)
	case "data/typed":
		return c.signTyped(1, 2)
	case "data/validator":
		return c.signValidator()
	}
	return nil, invalid("contentType", "%.40q: expected text/plain, data/typed or data/validator", kind)
}

// signValidator signs {address, message} for a validator: EIP-191, version 0.
func (c *call) signValidator() (any, error) {
	from, err := c.address(1, "address")
	if err != nil {
		return nil, err
	}
	var validator, message string
	if c.params[2].Kind != '{' {
		return nil, invalid("data", "expected {address, message}")
	}
	err = strictjson.Read(c.params[2].Of(c.text), "data", strictjson.Required("address", &validator),
		strictjson.Required("message", &message))
	if err != nil {
		return nil, paramFault(err)
	}
	var check checker
	preimage := append([]byte{0x19, 0x00}, check.address("data.address", validator).Bytes()...)
	preimage = append(preimage, check.bytes("data.message", message)...)
	if check.err != nil {
		return nil, check.err
	}
	return c.sign(from, hex.EncodeToString(preimage), activity.EncodingHex, activity.HashKeccak256)
}

// sign signs a message and returns r, s and v: 65 bytes, v is 27 or 28.
func (c *call) sign(from, payload string, encoding activity.Encoding, hash activity.HashFunction) (any, error) {
	result, err := c.caller.SignMessage(c.ctx, c.organizationID, activity.SignMessageIntent{SignWith: from,
		Payload: payload, Encoding: encoding, HashFunction: hash})
	if err != nil {
		return nil, err
	}
	signature, err := hex.DecodeString(result.R + result.S + result.V)
	if err != nil || len(signature) != 65 {
		return nil, errors.New("a signature of another form")
	}
	signature[64] += 27
	return hexText(signature), nil
}

// What a list of addresses takes of the memory: addressBytes for each of addressesAtOnce, in the
// list and in the answer.
const (
	addressesAtOnce = 1024
	addressBytes    = 256
)

// accounts lists the addresses that the organization's keys have.
func (c *call) accounts() (any, error) {
	addresses := []string{}
	for info, err := range c.api.options.Keystore.Keys(c.ctx, c.organizationID) {
		if err != nil {
			return nil, &fault{codeRefused, "the keys cannot be listed at the moment", &data{Reason: activity.ReasonUnavailable}}
		}
		if len(addresses)%addressesAtOnce == addressesAtOnce-1 && !c.memory.Take(addressesAtOnce*addressBytes) {
			return nil, errNoRoom()
		}
		if info.PublicKey.Curve() == keystore.CurveSecp256k1 {
			addresses = append(addresses, common.Address(info.PublicKey.KeccakAddress()).Hex())
		}
	}
	return addresses, nil
}

func (c *call) chainID() (any, error) {
	if c.api.options.ChainID == 0 {
		return nil, &fault{codeMethod, "eth_chainId is not served: no chain is configured", nil}
	}
	return "0x" + strconv.FormatUint(c.api.options.ChainID, 16), nil
}

func hexText(raw []byte) string { return "0x" + hex.EncodeToString(raw) }

// hexBytes reads hex with 0x.
func hexBytes(text string) ([]byte, error) {
	var check checker
	raw := check.bytes("data", text)
	return raw, check.err
}
