package keystoretest

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
)

// secretsAreNotPrinted prints everything that a keystore hands out.
func (s suite) secretsAreNotPrinted(t *testing.T) {
	store, keys := s.open(t)
	_, err := store.Find(t.Context(), Organization, keystore.ByID("nothing"))
	var infos []any
	for info, err := range store.Keys(t.Context(), Organization) {
		infos = append(infos, info, err)
	}
	for _, key := range keys {
		handle := find(t, store, key)
		CheckNotPrinted(t, "the keystore", store, key.Secret)
		CheckNotPrinted(t, "a key", handle, key.Secret)
		CheckNotPrinted(t, "a verified key", keystore.Verified(handle), key.Secret)
		CheckNotPrinted(t, "a listing", infos, key.Secret)
		CheckNotPrinted(t, "an error", err, key.Secret)
	}
}

// CheckNotPrinted prints, logs and marshals a value in every way that the
// standard library has, and fails the test if any eight consecutive bytes of
// the secret can be read from what comes out.
func CheckNotPrinted(t testing.TB, name string, value any, secret []byte) {
	t.Helper()
	check(t, name, print(value, everyVerb), secret)
}

// CheckNotLogged is CheckNotPrinted without the verbs of fmt that fit no secret.
// For those fmt writes %!p(…), and what the value consists of without asking its
// methods: a type that is a slice cannot hide then, only one that is behind a
// pointer.
func CheckNotLogged(t testing.TB, name string, value any, secret []byte) {
	t.Helper()
	check(t, name, print(value, generalVerbs), secret)
}

var (
	generalVerbs = []string{"%v", "%+v", "%#v"}
	everyVerb    = append([]string{
		"%s", "%q", "%x", "%X", "% x", "%d", "%o", "%b", "%c", "%U", "%e", "%t", "%p", "%T",
	}, generalVerbs...)
)

func check(t testing.TB, name string, outputs map[string]string, secret []byte) {
	t.Helper()
	traces := tracesOf(secret)
	for way, output := range outputs {
		for _, trace := range traces {
			if strings.Contains(output, trace) {
				t.Errorf("%s, printed by %s, shows %d bytes of its secret or more", name, way, window)
				break
			}
		}
	}
}

// window is how many consecutive bytes of a secret make a leak. It is one more
// for base64, which takes them three at a time.
const window = 8

// tracesOf returns what a secret looks like in the usual encodings: each window
// of it, since it may be printed along with other bytes, and the whole number.
func tracesOf(secret []byte) []string {
	traces := []string{new(big.Int).SetBytes(secret).String()}
	for i := 0; i+window < len(secret); i++ {
		some := secret[i : i+window]
		list := fmt.Sprint(some)
		list = list[1 : len(list)-1]
		goList := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", some), "[]byte{"), "}")
		three := secret[i : i+window+1]
		traces = append(traces,
			string(some), fmt.Sprintf("%q", some)[1:],
			hex.EncodeToString(some), strings.ToUpper(hex.EncodeToString(some)), fmt.Sprintf("% x", some),
			list, strings.ReplaceAll(list, " ", ","), strings.ReplaceAll(list, " ", ", "), goList,
			base64.StdEncoding.EncodeToString(three), base64.URLEncoding.EncodeToString(three),
		)
	}
	return traces
}

// print returns what comes out of a value, by the way it came.
func print(value any, verbs []string) map[string]string {
	outputs := map[string]string{}
	shapes := map[string]any{
		"": value, " in a struct": struct{ V any }{value}, " by pointer": &value,
		" in a slice": []any{value}, " in a map": map[string]any{"v": value},
	}
	for shape, value := range shapes {
		for _, verb := range verbs {
			outputs[verb+shape] = fmt.Sprintf(verb, value)
		}
		outputs["fmt.Sprint"+shape] = fmt.Sprint(value)
		outputs["fmt.Errorf"+shape] = fmt.Errorf("%w: %v", fmt.Errorf("inner %v", value), value).Error()
		outputs["slog text"+shape] = logged(value, func(to *bytes.Buffer) slog.Handler { return slog.NewTextHandler(to, nil) })
		outputs["slog JSON"+shape] = logged(value, func(to *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(to, nil) })
		outputs["json"+shape] = marshalled(json.Marshal(value))
		outputs["xml"+shape] = marshalled(xml.Marshal(value))
		outputs["gob"+shape] = gobbed(value)
	}
	if marshaler, ok := value.(encoding.TextMarshaler); ok {
		outputs["MarshalText"] = marshalled(marshaler.MarshalText())
	}
	if marshaler, ok := value.(encoding.BinaryMarshaler); ok {
		outputs["MarshalBinary"] = marshalled(marshaler.MarshalBinary())
	}
	return outputs
}

func logged(value any, handler func(*bytes.Buffer) slog.Handler) string {
	var log bytes.Buffer
	logger := slog.New(handler(&log))
	logger.Info("value", "v", value)
	logger.With("v", value).WithGroup("g").Info("value", slog.Group("in", "v", value))
	return log.String()
}

func gobbed(value any) string {
	var encoded bytes.Buffer
	err := gob.NewEncoder(&encoded).Encode(value)
	return marshalled(encoded.Bytes(), err)
}

// marshalled returns what was made, and the error: it may quote a secret too.
func marshalled(encoded []byte, err error) string {
	return fmt.Sprintf("%s %v", encoded, err)
}
