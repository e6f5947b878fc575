package signing

import (
	"strconv"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Forms of the API. It is not recorded whether a key was ever imported or exported: both are
// always false.
type (
	privateKey struct {
		ID        string             `json:"privateKeyId"`
		PublicKey string             `json:"publicKey"` // hex; secp256k1: compressed
		Name      string             `json:"privateKeyName"`
		Curve     keystore.Curve     `json:"curve"`
		Addresses []chains.Address   `json:"addresses"`
		Tags      []string           `json:"privateKeyTags"`
		CreatedAt activity.Timestamp `json:"createdAt"`
		UpdatedAt activity.Timestamp `json:"updatedAt"`
		Exported  bool               `json:"exported"`
		Imported  bool               `json:"imported"`
	}

	wallet struct {
		ID        string             `json:"walletId"`
		Name      string             `json:"walletName"`
		CreatedAt activity.Timestamp `json:"createdAt"`
		UpdatedAt activity.Timestamp `json:"updatedAt"`
		Exported  bool               `json:"exported"`
		Imported  bool               `json:"imported"`
	}

	account struct {
		ID             string             `json:"walletAccountId"` // the key's
		OrganizationID string             `json:"organizationId"`
		WalletID       string             `json:"walletId"`
		Curve          keystore.Curve     `json:"curve"`
		PathFormat     string             `json:"pathFormat"`
		Path           string             `json:"path"`
		Format         string             `json:"addressFormat"`
		Address        string             `json:"address"`
		CreatedAt      activity.Timestamp `json:"createdAt"`
		UpdatedAt      activity.Timestamp `json:"updatedAt"`
		PublicKey      string             `json:"publicKey"`
		Name           string             `json:"name,omitempty"`
		Details        *wallet            `json:"walletDetails,omitempty"`
	}

	user struct {
		ID             string             `json:"userId"`
		Name           string             `json:"userName"`
		Authenticators []authenticator    `json:"authenticators"`
		APIKeys        []apiKey           `json:"apiKeys"`
		Tags           []string           `json:"userTags"`
		OAuthProviders []string           `json:"oauthProviders"` // none
		CreatedAt      activity.Timestamp `json:"createdAt"`
		UpdatedAt      activity.Timestamp `json:"updatedAt"`
		MFAPolicies    []string           `json:"mfaPolicies"` // none
	}

	credential struct {
		PublicKey string `json:"publicKey"`
		Type      string `json:"type"`
	}

	apiKey struct {
		Credential credential         `json:"credential"`
		ID         string             `json:"apiKeyId"`
		Name       string             `json:"apiKeyName"`
		CreatedAt  activity.Timestamp `json:"createdAt"`
		UpdatedAt  activity.Timestamp `json:"updatedAt"`
	}

	authenticator struct {
		Transports      []string           `json:"transports"` // not recorded
		AttestationType string             `json:"attestationType"`
		AAGUID          string             `json:"aaguid"`
		CredentialID    string             `json:"credentialId"`
		Model           string             `json:"model"`
		Credential      credential         `json:"credential"`
		ID              string             `json:"authenticatorId"`
		Name            string             `json:"authenticatorName"`
		CreatedAt       activity.Timestamp `json:"createdAt"`
		UpdatedAt       activity.Timestamp `json:"updatedAt"`
	}

	organization struct {
		ID          string       `json:"organizationId"`
		Name        string       `json:"name"`
		Users       []user       `json:"users"`
		PrivateKeys []privateKey `json:"privateKeys"`
		Wallets     []wallet     `json:"wallets"`
	}
)

// timestamp returns a time of the API. A time that is not known is the epoch.
func timestamp(at time.Time) activity.Timestamp {
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	return activity.Timestamp{Seconds: strconv.FormatInt(at.Unix(), 10), Nanos: strconv.Itoa(at.Nanosecond())}
}

// userOf returns the caller's user, with the credential that asks.
func userOf(member *access.Member) user {
	created := timestamp(member.User.CreatedAt)
	shown := user{
		ID: member.User.ID, Name: member.User.Name, Tags: append([]string{}, member.User.Tags...),
		CreatedAt: created, UpdatedAt: created,
		Authenticators: []authenticator{}, APIKeys: []apiKey{}, OAuthProviders: []string{}, MFAPolicies: []string{},
	}
	asking := member.Credential
	_, id, _ := strings.Cut(string(asking.ID()), ":")
	if asking.IsPasskey() {
		shown.Authenticators = []authenticator{{
			Transports: []string{}, AttestationType: "none", CredentialID: id, ID: string(asking.ID()),
			CreatedAt: created, UpdatedAt: created,
			Credential: credential{asking.PublicKeyText(), "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR"},
		}}
		return shown
	}
	kind := strings.Replace(string(asking.Curve()), "API_KEY_CURVE_", "CREDENTIAL_TYPE_API_KEY_", 1)
	shown.APIKeys = []apiKey{{Credential: credential{asking.PublicKeyText(), kind}, ID: string(asking.ID()),
		CreatedAt: created, UpdatedAt: created}}
	return shown
}

// format returns the address format that a derivation path is for: that of its coin type
// (SLIP-44) and, for Bitcoin, of its purpose (BIP-44, 49, 84, 86). It is empty for others.
func format(path string) string {
	parts := strings.Split(strings.ReplaceAll(path, "h", "'"), "/")
	if len(parts) < 3 {
		return ""
	}
	switch purpose, coin := parts[1], parts[2]; coin {
	case "60'":
		return "ADDRESS_FORMAT_ETHEREUM"
	case "195'":
		return "ADDRESS_FORMAT_TRON"
	case "501'":
		return "ADDRESS_FORMAT_SOLANA"
	case "0'":
		return "ADDRESS_FORMAT_BITCOIN_MAINNET_" + scripts[purpose]
	case "1'":
		return "ADDRESS_FORMAT_BITCOIN_TESTNET_" + scripts[purpose]
	}
	return ""
}

// scripts are the address kinds of Bitcoin by purpose.
var scripts = map[string]string{"44'": "P2PKH", "49'": "P2SH", "84'": "P2WPKH", "86'": "P2TR"}
