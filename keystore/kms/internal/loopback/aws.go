// Package loopback has servers on loopback that speak what the packages here ask of key
// services, for tests. Their keys and faults are those of remotetest.Keys.
package loopback

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

// AWS speaks the calls of AWS KMS that the package makes, over JSON 1.1 on loopback. It
// checks each request: which members there are, which are required, and what the key spec
// allows. The members are those of the shapes SignRequest, GetPublicKeyRequest, CreateKeyRequest
// and CreateAliasRequest in botocore's kms/2014-11-01/service-2.json, read at commit cd920775,
// and of the inputs of aws-sdk-go-v2's service/kms v1.62.6, which are the same. That model is
// older than Ed25519 in KMS: ECC_NIST_EDWARDS25519 and ED25519_SHA_512 are from types/enums.go of
// the SDK. Both were looked at on 26 November 2026.
type AWS struct {
	*httptest.Server
	script
	Keys *remotetest.Keys

	t testing.TB

	mu      sync.Mutex
	Aliases map[string]string // from alias/NAME to the names of keys
	calls   []string
	code    string // if set, every answer is this error
}

// AccountARN begins the ARNs of the keys.
const AccountARN = "arn:aws:kms:eu-central-1:111122223333:"

// NewAWS starts a server, which ends with the test.
func NewAWS(t testing.TB) *AWS {
	t.Helper()
	s := &AWS{t: t, Keys: remotetest.NewKeys(), Aliases: map[string]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// SetCode makes every answer an error with this code; "" none.
func (s *AWS) SetCode(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code = code
}

// Environment returns the variables that have the default chain find this server, and
// credentials for it.
func (s *AWS) Environment() map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL_KMS": s.URL, "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_REGION": "", "AWS_PROFILE": "",
	}
}

// models are the members of each request: true if required.
var models = map[string]map[string]bool{
	"Sign":         {"KeyId": true, "Message": true, "MessageType": false, "GrantTokens": false, "SigningAlgorithm": true, "DryRun": false},
	"GetPublicKey": {"KeyId": true, "GrantTokens": false},
	"CreateKey": {"Policy": false, "Description": false, "KeyUsage": false, "CustomerMasterKeySpec": false,
		"KeySpec": false, "Origin": false,
		"CustomKeyStoreId": false, "BypassPolicyLockoutSafetyCheck": false, "Tags": false, "MultiRegion": false, "XksKeyId": false},
	"CreateAlias": {"AliasName": true, "TargetKeyId": true},
}

// specs are the key spec and the signing algorithm with its message type, by scheme.
var specs = map[remote.Scheme][3]string{
	remote.Secp256k1: {"ECC_SECG_P256K1", "ECDSA_SHA_256", "DIGEST"},
	remote.Ed25519:   {"ECC_NIST_EDWARDS25519", "ED25519_SHA_512", "RAW"},
	remote.P256:      {"ECC_NIST_P256", "ECDSA_SHA_256", "DIGEST"},
}

// ServeHTTP implements http.Handler.
func (s *AWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, found := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "TrentService.")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller gave up while it sent: a program that is stopped may
	}
	if !found || r.Method != http.MethodPost || r.URL.Path != "/" || r.Header.Get("Content-Type") != "application/x-amz-json-1.1" {
		s.t.Errorf("%s %s %s", r.Method, r.URL, r.Header)
	}
	if auth := r.Header.Get("Authorization"); !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") ||
		!strings.Contains(auth, "/eu-central-1/kms/aws4_request") {
		s.t.Errorf("authorization %q", auth)
	}
	s.mu.Lock()
	s.calls = append(s.calls, call)
	code := s.code
	s.mu.Unlock()
	if s.answered(w, call) {
		return
	}
	if code != "" {
		fail(w, http.StatusBadRequest, code, "as the test says")
		return
	}
	if s.misbehave(w, r, call) {
		return
	}
	var input map[string]any
	if err := json.Unmarshal(body, &input); err != nil {
		s.t.Errorf("%s: %v", call, err)
	}
	s.checkMembers(call, input)
	s.answer(w, call, input)
}

func (s *AWS) checkMembers(call string, input map[string]any) {
	model, ok := models[call]
	if !ok {
		s.t.Errorf("the call %q", call)
	}
	for member := range input {
		if _, ok := model[member]; !ok {
			s.t.Errorf("%s has no member %s", call, member)
		}
	}
	for member, required := range model {
		if _, ok := input[member]; required && !ok {
			s.t.Errorf("%s: %s is missing", call, member)
		}
	}
}

// misbehave answers the faults that are the service's.
func (s *AWS) misbehave(w http.ResponseWriter, r *http.Request, call string) bool {
	fault, over := s.Keys.Fault()
	switch fault {
	case keystoretest.Throttled:
		fail(w, http.StatusBadRequest, "ThrottlingException", "Rate exceeded")
	case keystoretest.Denied:
		fail(w, http.StatusBadRequest, "AccessDeniedException",
			"User: arn:aws:iam::111122223333:user/x is not authorized to perform: kms:"+call)
	case keystoretest.Gone:
		fail(w, http.StatusBadRequest, "KMSInvalidStateException", "is pending deletion.")
	case keystoretest.Away:
		panic(http.ErrAbortHandler)
	case keystoretest.Broken:
		fail(w, http.StatusInternalServerError, "KMSInternalException", "")
	case keystoretest.Nonsense:
		_, _ = io.WriteString(w, "<html>captive portal</html>")
	case keystoretest.Slow:
		select {
		case <-r.Context().Done():
			return true
		case <-over:
			return false
		}
	default:
		return false
	}
	return true
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
}

// name returns the name of the key with a KeyId.
func (s *AWS) name(keyID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimPrefix(strings.TrimPrefix(keyID, AccountARN), "key/")
	if target, ok := s.Aliases[name]; ok {
		return target
	}
	return name
}

func (s *AWS) answer(w http.ResponseWriter, call string, input map[string]any) {
	switch call {
	case "CreateKey":
		s.createKey(w, input)
		return
	case "CreateAlias":
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, exists := s.Aliases[input["AliasName"].(string)]; exists {
			fail(w, http.StatusBadRequest, "AlreadyExistsException", "An alias with the name exists already")
			return
		}
		s.Aliases[input["AliasName"].(string)] = input["TargetKeyId"].(string)
		_, _ = io.WriteString(w, "{}")
		return
	}
	name := s.name(input["KeyId"].(string))
	scheme, ok := s.Keys.Scheme(name)
	if !ok {
		fail(w, http.StatusBadRequest, "NotFoundException", fmt.Sprintf("Key '%s%s' does not exist", AccountARN, name))
		return
	}
	answer := map[string]any{"KeyId": AccountARN + "key/" + name}
	if call == "GetPublicKey" {
		answer["PublicKey"], answer["KeySpec"], answer["CustomerMasterKeySpec"] = s.Keys.SPKI(name), specs[scheme][0], specs[scheme][0]
		answer["KeyUsage"], answer["SigningAlgorithms"] = "SIGN_VERIFY", []string{specs[scheme][1]}
	} else {
		signature := s.sign(name, scheme, input)
		answer["Signature"], answer["SigningAlgorithm"] = signature, input["SigningAlgorithm"]
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *AWS) sign(name string, scheme remote.Scheme, input map[string]any) []byte {
	message, err := base64.StdEncoding.DecodeString(input["Message"].(string))
	if err != nil || len(message) > 4096 || specs[scheme][2] == "DIGEST" && len(message) != 32 {
		s.t.Errorf("a message of %d bytes: %v", len(message), err)
	}
	if input["SigningAlgorithm"] != specs[scheme][1] || input["MessageType"] != specs[scheme][2] {
		s.t.Errorf("%s of %s for a key on %s", input["SigningAlgorithm"], input["MessageType"], scheme)
	}
	signature, err := s.Keys.Sign(name, message, remotetest.DER)
	if err != nil {
		s.t.Error(err)
	}
	return signature
}

func (s *AWS) createKey(w http.ResponseWriter, input map[string]any) {
	for scheme, spec := range specs {
		if input["KeySpec"] == spec[0] && input["KeyUsage"] == "SIGN_VERIFY" {
			id := fmt.Sprintf("1234abcd-12ab-34cd-56ef-%012d", len(s.Aliases))
			s.Keys.Generate(id, scheme)
			_ = json.NewEncoder(w).Encode(map[string]any{"KeyMetadata": map[string]any{"KeyId": id,
				"Arn": AccountARN + "key/" + id, "KeySpec": spec[0]}})
			return
		}
	}
	s.t.Errorf("CreateKey of %v", input)
}

// Called returns the calls since it was last called.
func (s *AWS) Called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := slices.Clone(s.calls)
	s.calls = nil
	return calls
}
