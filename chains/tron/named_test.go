package tron

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/countersign-dev/countersign/chains/chaintest"
)

// unnamed are the fields of contracts that no effect and no hazard names, by the contract and the
// field, with the reason.
var unnamed = map[string]string{
	"AssetIssueContract precision":                        "how amounts are shown",
	"DelegateResourceContract lock":                       "set already: with a lock it is a stake",
	"DelegateResourceContract resource":                   "which resource the TRX give",
	"FreezeBalanceV2Contract resource":                    "which resource the TRX give",
	"UnDelegateResourceContract resource":                 "which resource the TRX give",
	"UnfreezeBalanceContract resource":                    "which resource the TRX gave",
	"UnfreezeBalanceContract receiver_address":            "who had the resource: the TRX come back to the owner",
	"ProposalApproveContract is_add_approval":             "a vote, which moves nothing",
	"UpdateBrokerageContract brokerage":                   "of rewards to come",
	"UpdateSettingContract consume_user_resource_percent": "who pays for the energy of calls to come",
}

// messageOf returns the message of a transaction's contract.
func messageOf(t *testing.T, raw []byte) []byte {
	t.Helper()
	for _, number := range []protowire.Number{11, 2, 2} { // contract, parameter, value
		for rest := raw; ; {
			if len(rest) == 0 {
				return nil
			}
			field, kind, n := protowire.ConsumeTag(rest)
			size := protowire.ConsumeFieldValue(field, kind, rest[n:])
			if n < 0 || size < 0 {
				t.Fatal("not Protocol Buffers")
			}
			if value := rest[n : n+size]; field == number {
				raw, _ = protowire.ConsumeBytes(value)
				break
			}
			rest = rest[n+size:]
		}
	}
	return raw
}

// said returns what the effects and hazards of a transaction say, without arguments. ok is false if it
// is refused.
func said(raw []byte) (text string, decoded, ok bool) {
	parsed, err := Chain{}.Parse(raw)
	if err != nil {
		return "", false, false
	}
	decoded = true
	for _, e := range parsed.Effects() {
		text += fmt.Sprintln(e.Kind, e.From, e.By, e.To, e.Account, e.Asset, e.Amount.Bound, e.Amount.Value, e.Until)
		decoded = decoded && !e.Undecoded
	}
	for _, hazard := range parsed.Hazards() {
		text += hazard.Name + " " + hazard.Detail + "\n"
	}
	return text, decoded, true
}

// largest returns a message with the largest number that its field may have, or with a stranger's
// address, in place of one field; nil if the field is neither.
func largest(known *message, number protowire.Number, kind protowire.Type, value []byte, stranger []byte) []byte {
	i := slices.IndexFunc(known.fields, func(f field) bool { return f.number == uint64(number) })
	switch content, _ := protowire.ConsumeBytes(value); {
	case i < 0:
		return nil
	case kind == protowire.VarintType:
		most := known.fields[i].most
		if most == 0 {
			most = 1<<63 - 1
		}
		return protowire.AppendVarint(nil, uint64(most))
	case kind == protowire.BytesType && len(content) == len(stranger) && content[0] == stranger[0]:
		return protowire.AppendBytes(nil, stranger)
	}
	return nil
}

// TestEveryFieldIsNamed puts the largest number, and the address of a stranger, in the place of each
// field of each contract: an effect or a hazard must say so, or the contract is refused.
func TestEveryFieldIsNamed(t *testing.T) {
	stranger := append([]byte{0x41}, slices.Repeat([]byte{0x77}, 20)...)
	raws := handMade(t)
	for i, v := range tronWebVectors(t) {
		raws[fmt.Sprint(v.Type, i)] = chaintest.Unhex(t, v.RawDataHex)
	}
	checked, seen := 0, map[string]bool{}
	for _, raw := range raws {
		known := parse(t, raw).contract
		message := messageOf(t, raw)
		before, decoded, ok := said(rawOf(known.number, message))
		if !ok || !decoded {
			continue // refused by name
		}
		for at := 0; at < len(message); {
			number, kind, n := protowire.ConsumeTag(message[at:])
			size := protowire.ConsumeFieldValue(number, kind, message[at+n:])
			changed := largest(known.message, number, kind, message[at+n:at+n+size], stranger)
			rebuilt := slices.Concat(message[:at+n], changed, message[at+n+size:])
			at += n + size
			if changed == nil {
				continue
			}
			checked++
			i := slices.IndexFunc(known.message.fields, func(f field) bool { return f.number == uint64(number) })
			name := known.message.name + " " + known.message.fields[i].name
			after, _, ok := said(rawOf(known.number, rebuilt))
			named := !ok || after != before && (kind == protowire.VarintType || strings.Contains(after, address(stranger[1:]).String()))
			if reason := unnamed[name]; !named && reason == "" {
				t.Errorf("no effect names %s.%s\n%s", known.message.name, known.message.fields[i].name, after)
			} else if !named {
				seen[name] = true
			}
		}
	}
	for name := range unnamed {
		if !seen[name] {
			t.Errorf("%s is named everywhere: remove it from unnamed", name)
		}
	}
	t.Logf("%d fields", checked)
}
