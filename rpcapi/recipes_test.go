package rpcapi_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
)

// object is a transaction object, of which some members are changed.
type object map[string]any

// with returns the object with other members; nil removes one.
func (o object) with(changes object) object {
	changed := maps.Clone(o)
	for name, value := range changes {
		if changed[name] = value; value == nil {
			delete(changed, name)
		}
	}
	return changed
}

const (
	stranger = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"
	aBlob    = "0x0100000000000000000000000000000000000000000000000000000000000000"
	word     = "0000000000000000000000000000000000000000000000000000000000000000"
)

// recipe is what a policy of docs/recipes.md must sign, and changes of the first of it that it
// must refuse.
type recipe struct {
	user, key, chain string
	signs            []object
	refuses          map[string]object
}

func erc20(selector, to, amount string) string {
	return "0x" + selector + word[:24] + strings.ToLower(to[2:]) + fmt.Sprintf("%064s", amount)
}

const (
	opInbox    = "0xFF00000000000000000000000000000000000010"
	factory    = "0xe5965Ab5962eDc7477C8520243A95517CD252fA9"
	nitroInbox = "0x1c479675ad559DC151F6Ec7ed3FbF8ceE79582B6"
	vault      = "0x1234567890AbcdEF1234567890aBcdef12345678"
	payee      = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	usdc       = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
)

var (
	createsGame = "0x82ecf2f6" + word + word + word[:62] + "60" + word[:62] + "20" + word
	posts       = "0x3e5aa082" + strings.Repeat(word, 5)
	dynamic     = object{"gas": "0x30d40", "maxFeePerGas": "0x4a817c800", "maxPriorityFeePerGas": "0x1", "value": "0x0", "nonce": "0x1", "chainId": "0x1"}
	blobs       = object{"maxFeePerBlobGas": "0x3b9aca00", "blobVersionedHashes": []string{aBlob, aBlob}}
	delegated   = []object{{"chainId": "0x1", "address": stranger, "nonce": "0x0", "yParity": "0x0", "r": "0x1", "s": "0x1"}}
)

// recipes are those of the page, by heading.
var recipes = map[string]recipe{
	"OP Stack batcher": {"batcher", "batcher", "0x1", []object{
		dynamic.with(blobs).with(object{"to": opInbox}),
		dynamic.with(object{"to": opInbox, "data": "0x00abcdef0102030405", "nonce": "0x2"}),
		dynamic.with(blobs).with(object{"to": opInbox, "maxFeePerGas": "0x9502f9000"}), // a bump
	}, map[string]object{
		"another inbox":      {"to": stranger},
		"a payment":          {"value": "0x1"},
		"a payment, no blob": {"value": "0x1", "maxFeePerBlobGas": nil, "blobVersionedHashes": nil},
		"another chain":      {"chainId": "0xa"},
		"a fee above":        {"maxFeePerGas": "0x246139ca800"},
		"a blob fee above":   {"maxFeePerBlobGas": "0x246139ca800"},
		"a call elsewhere":   {"to": usdc, "data": erc20("a9059cbb", stranger, "1")},
		"a contract":         {"to": nil, "data": "0x600160005360016000f3", "maxFeePerBlobGas": nil, "blobVersionedHashes": nil},
		"a delegation":       {"maxFeePerBlobGas": nil, "blobVersionedHashes": nil, "authorizationList": delegated, "to": stranger},
		"data and a payment": {"data": "0x00abcdef0102030405", "value": "0x1"},
	}},
	"OP Stack proposer": {"proposer", "proposer", "0x1", []object{
		dynamic.with(object{"to": factory, "data": createsGame, "value": "0x11c37937e080000"}),
		dynamic.with(object{"to": factory, "data": createsGame, "value": "0x11c37937e080000", "maxFeePerGas": "0x9502f9000"}),
	}, map[string]object{
		"a larger bond":      {"value": "0x11c37937e080001"},
		"another factory":    {"to": stranger},
		"another function":   {"data": "0x14f6b1a3" + createsGame[10:]},
		"no data":            {"data": nil},
		"another chain":      {"chainId": "0x2105"},
		"a fee above":        {"maxFeePerGas": "0xe8d4a51000"},
		"a token":            {"to": usdc, "value": "0x0", "data": erc20("095ea7b3", stranger, "ff")},
		"a bond to a friend": {"to": stranger, "data": nil},
		"a bond, twice":      {"value": "0x2386f26fc100000"},
	}},
	"Nitro batch poster": {"poster", "poster", "0x1", []object{
		dynamic.with(blobs).with(object{"to": nitroInbox, "data": posts}),
		dynamic.with(blobs).with(object{"to": nitroInbox, "data": "0x917cf8ac" + posts[10:], "nonce": "0x2"}),
		dynamic.with(blobs).with(object{"to": nitroInbox, "data": posts, "maxFeePerBlobGas": "0x77359400"}),
	}, map[string]object{
		"another inbox":    {"to": stranger},
		"another function": {"data": "0x6f12b0c9" + posts[10:]},
		"no blobs":         {"maxFeePerBlobGas": nil, "blobVersionedHashes": nil},
		"a payment":        {"value": "0x1"},
		"another chain":    {"chainId": "0xa4b1"},
		"a fee above":      {"maxFeePerGas": "0x246139ca800"},
		"a blob fee above": {"maxFeePerBlobGas": "0x246139ca800"},
		"no data":          {"data": nil},
	}},
	"A keeper bot": {"keeper", "keeper", "0x2105", []object{
		dynamic.with(object{"to": vault, "data": "0x4641257d", "chainId": "0x2105"}),
		dynamic.with(object{"to": payee, "data": "0x4641257d", "chainId": "0x2105", "nonce": "0x2"}),
	}, map[string]object{
		"another contract": {"to": stranger},
		"another function": {"data": "0x853828b6"},
		"a payment":        {"value": "0x1"},
		"a plain payment":  {"value": "0x1", "data": nil},
		"another chain":    {"chainId": "0x1"},
		"a fee above":      {"maxFeePerGas": "0x246139ca800"},
		"an approval":      {"to": usdc, "data": erc20("095ea7b3", stranger, "ff")},
		"a contract":       {"to": nil, "data": "0x600160005360016000f3"},
	}},
	"A treasury with approval above a limit": {"payments", "treasury", "0x1", []object{
		dynamic.with(object{"to": usdc, "data": erc20("a9059cbb", payee, "12a05f200")}), // all of the 5,000
		dynamic.with(object{"to": usdc, "data": erc20("a9059cbb", payee, "12a05f200"), "maxFeePerGas": "0x9502f9000"}),
	}, map[string]object{
		"more, without votes":      {"nonce": "0x2", "data": erc20("a9059cbb", payee, "12a05f201")},
		"more in another payment":  {"nonce": "0x2", "data": erc20("a9059cbb", payee, "1")},
		"a larger bump":            {"data": erc20("a9059cbb", payee, "12a05f201")},
		"a stranger":               {"data": erc20("a9059cbb", stranger, "1")},
		"an approval":              {"data": erc20("095ea7b3", payee, "1")},
		"another token":            {"to": "0xdAC17F958D2ee523a2206206994597C13D831ec7"},
		"ether":                    {"to": payee, "data": nil, "value": "0x1"},
		"another chain":            {"chainId": "0x2105"},
		"a fee above":              {"maxFeePerGas": "0x246139ca800"},
		"from someone's allowance": {"data": "0x23b872dd" + word[:24] + strings.ToLower(stranger[2:]) + erc20("", payee, "1")[2:]},
	}},
}

// TestRecipes sends transactions to the server under each policy of docs/recipes.md.
func TestRecipes(t *testing.T) {
	policies := testenv.SamplePolicies(t, "recipes.md")
	if len(policies) != len(recipes) {
		t.Errorf("%d policies are printed, %d are tested", len(policies), len(recipes))
	}
	for name, of := range recipes {
		t.Run(name, func(t *testing.T) {
			s, from, others := serveRecipe(t, policies[name], &of)
			for i, sent := range of.signs {
				if a := s.send(sent.with(object{"from": from})); a.Error != nil {
					t.Fatalf("transaction %d: %+v", i, a.Error)
				}
			}
			s.WantSignatures(t, int64(len(of.signs)))
			if len(of.refuses) < 6 {
				t.Errorf("only %d are refused", len(of.refuses))
			}
			for what, changes := range of.refuses {
				if a := s.send(of.signs[0].with(object{"from": from}).with(changes)); a.Error == nil || a.Error.Code != -32000 {
					t.Errorf("%s: %s, %+v", what, a.Result, a.Error)
				}
			}
			if a := s.send(of.signs[0].with(object{"from": others})); a.Error == nil || a.Error.Code != -32000 {
				t.Errorf("another key: %s, %+v", a.Result, a.Error)
			}
			s.WantSignatures(t, int64(len(of.signs)))
		})
	}
}

// serveRecipe returns a server under a policy, whose caller is the recipe's user, the address
// of the recipe's key, and that of a key of another name.
func serveRecipe(t *testing.T, text string, of *recipe) (s *server, from, others string) {
	t.Helper()
	s = newServer(t, func(c *countersign.Config) {
		var users []access.UserConfig
		names := &policy.Names{}
		for _, name := range []string{of.user, "ann", "ben"} {
			user := access.UserConfig{ID: "user-" + name, Name: name, Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{enginetest.NewAPIKey(t).Config()}}
			if name == of.user {
				user.ID, user.Tags = "user-1", nil
			}
			users = append(users, user)
			names.Users = append(names.Users, access.User{ID: user.ID, Name: name, Tags: user.Tags})
		}
		file, err := policy.Parse("policy.yaml", []byte(text), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...), Names: names})
		testenv.Must(t, err)
		c.Directory, err = access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: users}})
		testenv.Must(t, err)
		c.Policy, c.AllowHazards = file, nil
	})
	address := func(name string, seed byte) string {
		secret := append(make([]byte, 31), seed)
		_, err := s.Signing.Keystore.(*keys.Store).Add(t.Context(), enginetest.Organization, keystore.NewKey{ID: name, Curve: keystore.CurveSecp256k1, Secret: secret})
		testenv.Must(t, err)
		private, err := crypto.ToECDSA(secret)
		testenv.Must(t, err)
		return crypto.PubkeyToAddress(private.PublicKey).Hex()
	}
	return s, address(of.key, 7), address("other", 9)
}

// send asks for a signature of a transaction object.
func (s *server) send(sent object) answered {
	s.t.Helper()
	text := testenv.Encode(s.t, []object{sent})
	return s.call("eth_signTransaction", string(text))
}
