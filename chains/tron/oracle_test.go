package tron

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	_ "google.golang.org/protobuf/types/known/anypb" // Transaction.raw uses it

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// The oracle is Google's implementation of Protocol Buffers, with the messages
// that java-tron declares (testdata/descriptor.json: core/Tron.proto and
// core/contract/*.proto of java-tron, as a FileDescriptorProto in JSON).
var protocol = sync.OnceValue(func() protoreflect.FileDescriptor {
	text, err := os.ReadFile(filepath.Join("testdata", "descriptor.json"))
	if err != nil {
		panic(err)
	}
	var described descriptorpb.FileDescriptorProto
	if err := protojson.Unmarshal(text, &described); err != nil {
		panic(err)
	}
	file, err := protodesc.NewFile(&described, protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	return file
})

func newOracle(name string) *dynamicpb.Message {
	parts := strings.Split(name, ".")
	found := protocol().Messages().ByName(protoreflect.Name(parts[0]))
	for _, part := range parts[1:] {
		found = found.Messages().ByName(protoreflect.Name(part))
	}
	return dynamicpb.NewMessage(found)
}

// reencode decodes and re-encodes a message with the oracle, and fails if it has
// unknown fields.
func reencode(name string, raw []byte) ([]byte, *dynamicpb.Message, error) {
	m := newOracle(name)
	if err := proto.Unmarshal(raw, m); err != nil {
		return nil, nil, err
	}
	if unknown := countUnknown(m); unknown > 0 {
		return nil, nil, fmt.Errorf("%d bytes are of unknown fields", unknown)
	}
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return out, m, err
}

func countUnknown(m protoreflect.Message) int {
	count := len(m.GetUnknown())
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
		case f.Message() != nil && f.IsList():
			for i := range v.List().Len() {
				count += countUnknown(v.List().Get(i).Message())
			}
		case f.Message() != nil:
			count += countUnknown(v.Message())
		}
		return true
	})
	return count
}

// checkCanonical fails if a transaction that was accepted is not the oracle's encoding,
// outside and in the Any.
func checkCanonical(t testing.TB, tx *transaction) {
	t.Helper()
	name := "Transaction.raw"
	if tx.whole {
		name = "Transaction"
	}
	out, _, err := reencode(name, tx.raw)
	if err != nil || !bytes.Equal(out, tx.raw) {
		t.Fatalf("accepted %x\noracle   %x (%v)", tx.raw, out, err)
	}
	var parameter values
	inAny := tx.envelope[contractParameter]
	testenv.Must(t, anyMessage.read(tx.raw, inAny.from(), inAny.to(), parameter[:]))
	inside := parameter[1].of(tx.raw)
	out, _, err = reencode(tx.contract.message.name, inside)
	if tx.contract.message.name == "ProposalCreateContract" {
		// The order of a map's entries is free. The oracle sorts them.
		out, inside = slices.Sorted(slices.Values(out)), slices.Sorted(slices.Values(inside))
	}
	if err != nil || !bytes.Equal(out, inside) {
		t.Fatalf("%s: accepted %x\noracle   %x (%v)", tx.contract.message.name, inside, out, err)
	}
}

// Accounts of the tests. ownerHex is that of the vectors' key.
const (
	ownerHex    = "4197cc56300c36f60c7fb7c50babc6c5cdf59d5c56"
	otherHex    = "41f1cd33c4802dec54475c555f95e9403a62fd3553"
	contractHex = "41eca9bc828a3005b9a3b909f2cc5c2a54794de05f"
)

// encoded encodes a message with the oracle from its JSON, in which $owner, $other and
// $contract are addresses and $text(…) is bytes.
func encoded(t testing.TB, name, json string) []byte {
	t.Helper()
	in64 := func(text string) string { return base64.StdEncoding.EncodeToString(chaintest.Unhex(t, text)) }
	json = strings.NewReplacer("$owner", in64(ownerHex), "$other", in64(otherHex), "$contract", in64(contractHex)).Replace(json)
	m := newOracle(name)
	testenv.Must(t, protojson.Unmarshal([]byte(json), m))
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	testenv.Must(t, err)
	return out
}

// TestTablesAreTheProtocol compares every table with the declarations: no field is
// missing or invented, and none has another type.
func TestTablesAreTheProtocol(t *testing.T) {
	compare(t, transactionMessage, "Transaction")
	compare(t, rawMessage, "Transaction.raw")
	compare(t, contractMessage, "Transaction.Contract")
	declared := newOracle("Transaction.Contract").Descriptor().Enums().ByName("ContractType").Values()
	for i := range declared.Len() {
		number, name := int64(declared.Get(i).Number()), string(declared.Get(i).Name())
		found, err := contractOf(number, 0)
		if err != nil {
			if !strings.HasPrefix(unexecuted[number], name+":") {
				t.Errorf("type %d %s: %v", number, name, err)
			}
			continue
		}
		if found.message.name != name || found.typeURL != "type.googleapis.com/protocol."+name {
			t.Errorf("type %d is %s with %s, want %s", number, found.message.name, found.typeURL, name)
		}
		compare(t, found.message, name)
		found.message.indexOf(kindOwner)
	}
}

func compare(t *testing.T, m *message, name string) {
	t.Helper()
	declared := newOracle(name).Descriptor().Fields()
	if declared.Len() != len(m.fields) || len(m.fields) > maxFields {
		t.Errorf("%s has %d fields, declared are %d", name, len(m.fields), declared.Len())
	}
	for i := range m.fields {
		f := &m.fields[i]
		want := declared.ByNumber(protoreflect.FieldNumber(f.number))
		if want == nil || string(want.Name()) != f.name {
			t.Errorf("%s.%s = %d is declared as %v", name, f.name, f.number, want)
			continue
		}
		if i > 0 && m.fields[i-1].number >= f.number {
			t.Errorf("%s.%s is not behind the field before it", name, f.name)
		}
		if f.path != m.name+"."+f.name {
			t.Errorf("%s.%s is called %q in errors", name, f.name, f.path)
		}
		compareKind(t, f, want, name)
	}
}

// Types that each kind of field can have.
var kindsOf = map[protoreflect.Kind][]kind{
	protoreflect.BytesKind:   {kindAddress, kindOwner, kindBytes, kindText, kindToken, kindOperations, kindRepeated, kindRefused},
	protoreflect.StringKind:  {kindString},
	protoreflect.Int64Kind:   {kindSun, kindInt, kindTime, kindRefused},
	protoreflect.Int32Kind:   {kindInt32, kindRefused},
	protoreflect.BoolKind:    {kindBool},
	protoreflect.EnumKind:    {kindEnum},
	protoreflect.MessageKind: {kindMessage, kindMessages, kindRefused},
}

func compareKind(t *testing.T, f *field, want protoreflect.FieldDescriptor, message string) {
	t.Helper()
	isType := message == "Transaction.Contract" && f.number == 1 // an enum that is looked up
	if !slices.Contains(kindsOf[want.Kind()], f.kind) && !isType {
		t.Errorf("%s.%s is a %s, read as kind %d", message, f.name, want.Kind(), f.kind)
	}
	severalContracts := message == "Transaction.raw" && f == &rawMessage.fields[rawContract] // declared repeated, exactly one
	if f.kind != kindRefused && f.repeated() != (want.IsList() || want.IsMap()) && !severalContracts {
		t.Errorf("%s.%s: repeated is %v", message, f.name, f.repeated())
	}
	if f.kind == kindInt32 && f.most > 1<<31-1 {
		t.Errorf("%s.%s is 32 bits and goes to %d", message, f.name, f.most)
	}
	if f.kind == kindEnum {
		for number, name := range f.names {
			if value := want.Enum().Values().ByNumber(protoreflect.EnumNumber(number)); value == nil || string(value.Name()) != name {
				t.Errorf("%s.%s: %d is declared as %v", message, f.name, number, value)
			}
		}
	}
	if of := f.of; of != nil {
		parent := strings.TrimPrefix(string(want.Message().FullName()), "protocol.")
		compare(t, of, parent)
	}
}
