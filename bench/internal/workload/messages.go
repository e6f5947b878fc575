package workload

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/messages/personal"
)

// MessageKind is one kind of message.
type MessageKind struct {
	Name string // such as "permit"

	// Text returns message number for the address that signs it: typed data in JSON,
	// or the text of a personal message.
	Text func(number int, address string) string

	Personal bool
}

// MessageKinds returns the kinds of messages that the benchmarks sign.
func MessageKinds() []MessageKind {
	return []MessageKind{
		{Name: "permit", Text: permit}, {Name: "safe", Text: safeTransaction}, {Name: "order", Text: order},
		{Name: "personal", Text: personalText, Personal: true},
	}
}

// Messages are messages of a kind and the keys that sign them: message i is for key i.
type Messages struct {
	*Workload
	Texts   []string
	Intents []activity.SignMessageIntent
}

// NewMessages creates messages of a kind. Their keystore is closed when the test ends.
func NewMessages(t testing.TB, kind MessageKind) *Messages {
	t.Helper()
	m := &Messages{Workload: New(t, Find("ethereum/eip1559"))}
	for i := range Keys {
		signWith := m.Requests[i].SignWith
		text := kind.Text(i, signWith)
		intent := activity.SignMessageIntent{SignWith: signWith, Payload: text, Encoding: activity.EncodingEIP712,
			HashFunction: activity.HashNone}
		if kind.Personal {
			intent.Payload = hex.EncodeToString(personal.Preimage(personal.EthereumPrefix, []byte(text)))
			intent.Encoding, intent.HashFunction = activity.EncodingHex, activity.HashKeccak256
		}
		m.Texts, m.Intents = append(m.Texts, text), append(m.Intents, intent)
	}
	return m
}

// WholeMessage returns the whole path for message i: payload in, signature out.
func (m *Messages) WholeMessage(t testing.TB, engine *countersign.Engine) func(i int) {
	ctx := t.Context()
	return func(i int) {
		if _, err := engine.SignMessage(ctx, Organization, m.Intents[i%Keys]); err != nil {
			t.Fatal(err)
		}
	}
}

func domain(members, values string) string {
	return `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},` +
		`{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],` +
		members + `,"domain":` + values
}

// permit returns an ERC-2612 permit.
func permit(number int, address string) string {
	return domain(`"Permit":[{"name":"owner","type":"address"},{"name":"spender","type":"address"},{"name":"value",`+
		`"type":"uint256"},{"name":"nonce","type":"uint256"},{"name":"deadline","type":"uint256"}]},"primaryType":"Permit"`,
		`{"name":"USD Coin","version":"2","chainId":1,"verifyingContract":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"}`) +
		fmt.Sprintf(`,"message":{"owner":%q,"spender":"0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7",`+
			`"value":"250000000","nonce":"%d","deadline":"1763726400"}}`, address, number)
}

// safeTransaction returns a token transfer by a Safe.
func safeTransaction(number int, _ string) string {
	zero := "0x0000000000000000000000000000000000000000"
	return `{"types":{"EIP712Domain":[{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],` +
		`"SafeTx":[{"name":"to","type":"address"},{"name":"value","type":"uint256"},{"name":"data","type":"bytes"},` +
		`{"name":"operation","type":"uint8"},{"name":"safeTxGas","type":"uint256"},` +
		`{"name":"baseGas","type":"uint256"},{"name":"gasPrice","type":"uint256"},{"name":"gasToken",` +
		`"type":"address"},{"name":"refundReceiver","type":"address"},{"name":"nonce","type":"uint256"}]},` +
		`"primaryType":"SafeTx","domain":{"chainId":1,"verifyingContract":"0x1230000000000000000000000000000000000abc"},` +
		fmt.Sprintf(`"message":{"to":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","value":"0",`+
			`"data":"0xa9059cbb00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b7%064x",`+
			`"operation":0,"safeTxGas":"0","baseGas":"0","gasPrice":"0","gasToken":%q,"refundReceiver":%q,`+
			`"nonce":%d}}`, number, zero, zero, number)
}

// orderItems is the number of items an order offers, and the number it asks for.
const orderItems = 30

// order returns a large order of Seaport 1.6: about 11 kB of JSON.
func order(number int, address string) string {
	item := func(i int) string {
		return fmt.Sprintf(`"itemType":2,"token":"0xBC4CA0EdA7647A8aB7C2061c2E118A18a936f13D",`+
			`"identifierOrCriteria":"%d","startAmount":"1","endAmount":"1"`, number+i)
	}
	var offer, consideration []string
	for i := range orderItems {
		offer = append(offer, "{"+item(i)+"}")
		consideration = append(consideration, "{"+item(i)+`,"recipient":"`+address+`"}`)
	}
	members := `{"name":"itemType","type":"uint8"},{"name":"token","type":"address"},` +
		`{"name":"identifierOrCriteria","type":"uint256"},{"name":"startAmount","type":"uint256"},{"name":"endAmount","type":"uint256"}`
	zero := strings.Repeat("0", 64)
	return domain(`"OrderComponents":[{"name":"offerer","type":"address"},{"name":"zone","type":"address"},`+
		`{"name":"offer","type":"OfferItem[]"},{"name":"consideration","type":"ConsiderationItem[]"},`+
		`{"name":"orderType","type":"uint8"},{"name":"startTime","type":"uint256"},{"name":"endTime",`+
		`"type":"uint256"},{"name":"zoneHash","type":"bytes32"},{"name":"salt","type":"uint256"},`+
		`{"name":"conduitKey","type":"bytes32"},{"name":"counter","type":"uint256"}],"OfferItem":[`+members+
		`],"ConsiderationItem":[`+members+`,{"name":"recipient","type":"address"}]},"primaryType":"OrderComponents"`,
		`{"name":"Seaport","version":"1.6","chainId":1,"verifyingContract":"0x0000000000000068F116a894984e2DB1123eB395"}`) +
		fmt.Sprintf(`,"message":{"offerer":%q,"zone":"0x%s","offer":[%s],"consideration":[%s],"orderType":0,`+
			`"startTime":"1763640000","endTime":"1763730000","zoneHash":"0x%s","salt":"%d","conduitKey":"0x%s","counter":"0"}}`,
			address, zero[:40], strings.Join(offer, ","), strings.Join(consideration, ","), zero, number, zero)
}

func personalText(number int, address string) string {
	return fmt.Sprintf("Log in to example.com as %s.\nThis costs nothing, and sends no transaction.\nRequest %d", address, number)
}
