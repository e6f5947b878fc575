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

// secretsAreNotPrinted prints every value that a keystore returns.
func (s suite) secretsAreNotPrinted(t *testing.T) {
	store, keys := s.open(t)
	_, err := store.Find(t.Context(), Organization, keystore.ByID("nothing"))
	var infos []any
	for info, err := range store.Keys(t.Context(), Organization) {
		infos = append(infos, info, err)
	}
	for _, key := range keys {
		if key.Secret == nil {
			continue // the backend's process never has it
		}
		handle := find(t, store, key)
		CheckNotPrinted(t, "the keystore", store, key.Secret)
		CheckNotPrinted(t, "a key", handle, key.Secret)
		CheckNotPrinted(t, "a verified key", keystore.Verified(handle), key.Secret)
		CheckNotPrinted(t, "a listing", infos, key.Secret)
		CheckNotPrinted(t, "an error", err, key.Secret)
	}
}

// CheckNotPrinted prints, logs and marshals a value in every way of the standard library, and fails
// the test if any eight consecutive bytes of the secret appear in the output.
func CheckNotPrinted(t testing.TB, name string, value any, secret []byte) {
	t.Helper()
	check(t, name, print(value, everyVerb), secret)
}

// CheckNotLogged is CheckNotPrinted without the verbs of fmt that do not fit secrets. For those, fmt
// writes %!p(…) and the raw value without calling its methods: only a type that is behind a pointer
// can hide its content then, not a slice.
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

// window is the number of consecutive bytes of a secret that count as a leak. It is one more for
// base64, which encodes three bytes at a time.
const window = 8

// tracesOf returns the common encodings of a secret: of each window, because it may be printed along
// with other bytes, and of the whole secret as a number.
func tracesOf(secret []byte) []string {
	traces := []string{new(big.Int).SetBytes(secret).String()}
	for i := 0; i+window < len(secret); i++ {
		part := secret[i : i+window]
		list := fmt.Sprint(part)
		list = list[1 : len(list)-1]
		goList := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", part), "[]byte{"), "}")
		three := secret[i : i+window+1]
		traces = append(traces,
			string(part), fmt.Sprintf("%q", part)[1:],
			hex.EncodeToString(part), strings.ToUpper(hex.EncodeToString(part)), fmt.Sprintf("% x", part),
			list, strings.ReplaceAll(list, " ", ","), strings.ReplaceAll(list, " ", ", "), goList,
			base64.StdEncoding.EncodeToString(three), base64.URLEncoding.EncodeToString(three),
		)
	}
	return traces
}

// print returns the output for a value by the way it was printed.
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

// marshalled returns the encoded value and the error, which may quote a secret too.
func marshalled(encoded []byte, err error) string {
	return fmt.Sprintf("%s %v", encoded, err)
}
