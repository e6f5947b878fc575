package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/kms/azurekms"
	"github.com/countersign-dev/countersign/keystore/kms/gcpkms"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

func policyFile(t *testing.T, name string) []byte {
	t.Helper()
	content := testenv.Read(t, filepath.Join("../../../../packaging/kms", name))
	return content
}

// use opens a key through a store, and has it sign.
func use(t *testing.T, scheme string, service remote.Service, keys *remotetest.Keys, uri, name string) error {
	t.Helper()
	pin := remote.Pin{URI: uri, PublicKey: keys.Public(name).Signing, OrganizationID: "org"}
	store, err := remote.Open(t.Context(), remote.Services{scheme: service}, []remote.Pin{pin}, remote.Options{})
	testenv.Must(t, err)
	defer store.Close()
	key, err := store.Find(t.Context(), "org", keystore.ByID(remote.IDOf(pin.PublicKey)))
	if err != nil {
		return err
	}
	if signer, ok := key.(keystore.ECDSASigner); ok {
		_, err = signer.SignECDSA(t.Context(), [32]byte{1})
		return err
	}
	_, err = key.(keystore.Ed25519Signer).SignEd25519(t.Context(), []byte{1})
	return err
}

// same compares what a policy allows with what is used.
func same(t *testing.T, file string, allowed, used []string) {
	t.Helper()
	slices.Sort(allowed)
	slices.Sort(used)
	if used = slices.Compact(used); !slices.Equal(allowed, used) {
		t.Errorf("%s allows %q, and %q is used", file, allowed, used)
	}
}

// TestAWSPolicy: the policy allows the calls that opening and signing make, and no others.
func TestAWSPolicy(t *testing.T) {
	aws := loopback.NewAWS(t)
	loopback.Use(t, aws)
	aws.Keys.Generate("hot", remote.Secp256k1)
	testenv.Must(t, use(t, "awskms", services()["awskms"], aws.Keys, "awskms:hot?region=eu-central-1", "hot"))
	var policy struct {
		Statement []struct {
			Effect, Action, Resource string
			Condition                struct{ StringEquals map[string][]string }
		}
	}
	testenv.JSON(t, policyFile(t, "aws-policy.json"), &policy)
	var allowed, used []string
	for _, statement := range policy.Statement {
		allowed = append(allowed, statement.Action)
		if statement.Effect != "Allow" || !strings.HasSuffix(statement.Resource, ":key/KEY-ID") {
			t.Errorf("%+v", statement)
		}
	}
	for _, call := range aws.Called() {
		used = append(used, "kms:"+call)
	}
	same(t, "aws-policy.json", allowed, used)
}

// TestVaultPolicy: the same for the paths and capabilities of Vault.
func TestVaultPolicy(t *testing.T) {
	vault := loopback.NewVault(t)
	loopback.Use(t, vault)
	vault.Keys.Generate("NAME", remote.Ed25519)
	testenv.Must(t, use(t, "vaulttransit", services()["vaulttransit"], vault.Keys, "vaulttransit:NAME?version=1", "NAME"))
	var allowed, used []string
	for _, rule := range regexp.MustCompile(`path "([^"]+)" \{\n  capabilities = \["([a-z]+)"\]\n\}`).FindAllStringSubmatch(string(policyFile(t, "vault-policy.hcl")), -1) {
		allowed = append(allowed, rule[2]+" "+rule[1])
	}
	capabilities := map[string]string{"GET": "read", "PUT": "update"}
	for _, seen := range vault.Seen() {
		fields := strings.Fields(seen)
		if path := strings.TrimPrefix(fields[1], "/v1/"); !strings.HasPrefix(path, "auth/token/") { // of the default policy
			used = append(used, capabilities[fields[0]]+" "+path)
		}
	}
	same(t, "vault-policy.hcl", allowed, used)
}

// named returns the rights that the errors for missing ones name.
func named(t *testing.T, pattern string, errs ...error) (rights []string) {
	t.Helper()
	for _, err := range errs {
		found := regexp.MustCompile(pattern).FindString(fmt.Sprint(err))
		if found == "" {
			t.Errorf("%v names no right", err)
		}
		rights = append(rights, found)
	}
	return rights
}

// TestGoogleRole: the role has the permissions that the errors name when they are missing.
func TestGoogleRole(t *testing.T) {
	google := loopback.NewGoogle(t)
	google.Keys.SetFault(keystoretest.Denied)
	key, err := gcpkms.New(google.Options()...).Open(t.Context(), "gcpkms:"+loopback.Ring+"/cryptoKeys/hot/cryptoKeyVersions/1")
	testenv.Must(t, err)
	_, readErr := key.PublicKey(t.Context())
	_, signErr := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32))
	var role struct {
		IncludedPermissions []string `yaml:"includedPermissions"`
	}
	testenv.Must(t, yaml.Unmarshal(policyFile(t, "gcp-role.yaml"), &role))
	same(t, "gcp-role.yaml", role.IncludedPermissions, named(t, `cloudkms\.\w+\.\w+`, readErr, signErr))
}

// TestAzureRole is the same for the data actions of Azure.
func TestAzureRole(t *testing.T) {
	azure := loopback.NewAzure(t)
	azure.Keys.SetFault(keystoretest.Denied)
	service := azurekms.New(azurekms.Options{Credential: azure, Transport: azure.Client(), AnyDomain: true})
	key, err := service.Open(t.Context(), "azurekms:"+azure.Host()+"/keys/hot/"+loopback.AzureVersion)
	testenv.Must(t, err)
	_, readErr := key.PublicKey(t.Context())
	_, signErr := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32))
	var role struct{ Actions, DataActions []string }
	if err := json.Unmarshal(policyFile(t, "azure-role.json"), &role); err != nil || len(role.Actions) > 0 {
		t.Fatal(err, role.Actions)
	}
	same(t, "azure-role.json", role.DataActions, named(t, `Microsoft\.KeyVault/vaults/keys/[a-z/]+`, readErr, signErr))
}
