package texts_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/texts"
)

// keyTexts are the texts of SDKs, as they send them.
var keyTexts = []string{
	"Access zkSync account.\n\nOnly sign this message for a trusted client!",
	"Access zkSync account.\n\nOnly sign this message for a trusted client!\nChain ID: 280.",
	"Access ZKSwap account.\n\nOnly sign this message for a trusted client!",
	"Sign this message to access your Umbra account.\n\nOnly sign this message for a trusted client!",
	"Sign this message to access your Umbra account.\n\nThis signature gives the app access to your funds, so only sign this message for a trusted client!",
	"Sign this message to access Loopring Exchange: 0x0BABA1Ad5bE3a5C0a66E7ac838a129Bf948f1eA4 with key nonce: 0",
	"Only sign this request if you’ve initiated an action with Immutable X.",
	"Only sign this request if you've initiated an action with Immutable X.",
	"Sign this message to generate your Fluidkey private payment keys.\n\nWARNING: Only sign this message within a trusted website or platform to avoid loss of funds.\n\nSecret: c0bd",
	"Welcome to Fluidkey! Please sign this message to generate your Fluidkey. This does not cost gas. Pin: 0000",
	"Sign this message to generate your Aztec Privacy Key. This key lets the application decrypt your balance on Aztec.\n\nIMPORTANT: Only sign this message if you trust the application.",
	"Sign this message to generate your Aztec Spending Key. This key lets the application spend your funds on Aztec.",
	"Sign this message to create a key to interact with zkLink's layer2 services.\nNOTE: This application is powered by zkLink protocol.\n\nOnly sign this message for a trusted client!",
	"Message request signature: ",
	"{\n  \"name\": \"dYdX\",\n  \"version\": \"1.0\",\n  \"chainId\": 1,\n  \"action\": \"dYdX STARK Key\",\n  \"onlySignOn\": \"https://trade.dydx.exchange\"\n}",
	"XMTP : Enable Identity\nf51bd1da9ec2239723ae2cf6a9f8d0ac37546b27e634002c653d23bacfcc67ad\n\nFor more info: https://xmtp.org/signatures/",
	"Enable Push Profile \nc6f086dbc8295c8499873bf73e374f0bc230d567705c047938b3414163132280",
	"This app wants to view and update your 3Box profile.",
	"Allow this account to control your identity",
	"Add this account as a Ceramic authentication method",
	"Login to Hinkal Protocol",
	"Login to Hinkal's Private Transfer App",
	"name: ApeX\nversion: 1.0\nenvId: 1\naction: L2 Key\nonlySignOn: https://pro.apex.exchange",

	// not in the table: by phrase
	"Access zkBob account.\n\nOnly sign this message for a trusted client!",
	"Welcome to Velum\n\nSign this message to derive your private encryption keys.\n\nThis request will not trigger a blockchain transaction or cost any fees.",
	"Sign this message to derive your Opaque Cash stealth keys. This does not approve any transaction.",
	"etchit library v1\n\nSign this message to derive your encrypted-library key. This signature does NOT authorize any transaction or transfer.",
	"Galeon Stealth Key Derivation\n\nSign this message to derive your stealth keys.\nThis does NOT authorize any transactions.",
}

// TestDerivesKey: case, white space and invisible characters do not matter.
func TestDerivesKey(t *testing.T) {
	for _, text := range keyTexts {
		for _, form := range []string{text, strings.ToUpper(text), strings.ReplaceAll(text, "\n", "\r\n"), strings.ReplaceAll(text, " ", "  "), strings.Replace(text, "e", "e\u200b", 1)} {
			if texts.DerivesKey(form) == "" {
				t.Errorf("%q", form)
			}
		}
	}
	for _, text := range []string{
		"", "hello", "Sign this message to log in.", "Sign this message to access your account.", "Sign this message to create your API key.",
		"Only sign this request if you’ve initiated an action with Immutable X.\n\nFor internal use:\nbd717ba31dca6e0f3f136f7c4197babce5f09a9f25176044c0b3112b1b6017a3",
		"Register Lighter Account\n\npubkey: 0xaa\nnonce: 0x09\naccount index: 0x1c\napi key index: 0x07\nOnly sign this message for a trusted client!",
		"I sign that the public key of my server is 0xaa.", "Welcome to OpenSea!\n\nClick to sign in and accept the Terms of Service.",
		"This message attests that I control the given wallet", "Message request signature: 5", "Create Push Profile \nc6f086", "Login to Hinkal Protocol's forum",
		"XMTP : Create Identity\n08c6a8\n\nFor more info: https://xmtp.org/signatures/", "XMTP : Authenticate to inbox\n\nInbox ID: aa", "action: sign up", "The key to success is to sign on time.", signInText,
	} {
		if of := texts.DerivesKey(text); of != "" {
			t.Errorf("%q: %s", text, of)
		}
	}
}
