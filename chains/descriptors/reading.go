package descriptors

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// readBy reads a call by a format. The reading has no source yet.
func (d *descriptor) readBy(folder *Folder, f *format, call chains.Call, depth int) chains.Reading {
	reading := chains.Reading{Owner: d.owner, Intent: f.intent, Function: f.function.Signature}
	var tag byte // that may precede an address in an argument
	if call.Chain == tronChain {
		tag = tronPrefix
	}
	arguments, rest, ok := f.function.Arguments(call.Data[4:], tag)
	if !ok {
		reading.Problem = "the arguments are not in the canonical encoding of " + f.function.Signature
		return reading
	}
	reading = d.readArguments(folder, f, call, depth, arguments, reading)
	if len(rest) > 0 && reading.Problem == "" {
		reading.Problem, reading.Complete = fmt.Sprintf("%d bytes follow the arguments", len(rest)), false
	}
	return reading
}

func (d *descriptor) readArguments(
	folder *Folder, f *format, call chains.Call, depth int, arguments []chains.TypedValue, reading chains.Reading,
) chains.Reading {
	s := &session{descriptor: d, folder: folder, call: call, depth: depth, read: map[string]bool{},
		shown: map[string]string{},
		root:  located{TypedValue: chains.TypedValue{Kind: chains.TypedStruct, List: arguments}}}
	var err error
	if reading.Fields, err = s.fields(f.fields, s.root); err != nil {
		reading.Fields, reading.Problem = nil, "the descriptor does not fit the call: "+err.Error()
		return reading
	}
	reading.Intent = s.interpolate(f)
	reading.Args, reading.Problem = s.arguments(s.root, nil)
	reading.Complete = reading.Problem == ""
	return reading
}

// arguments lists every argument, and returns the problem of the first that is not read.
func (s *session) arguments(value located, args []chains.Arg) (_ []chains.Arg, problem string) {
	if value.Kind == chains.TypedStruct || value.Kind == chains.TypedList {
		for _, element := range value.elements() {
			var unread string
			if args, unread = s.arguments(element, args); problem == "" {
				problem = unread
			}
			if len(args) >= maxArgs {
				return args, fmt.Sprintf("there are more than %d arguments", maxArgs)
			}
		}
		return args, problem
	}
	text, whole := plain(s.call.Chain, value.TypedValue)
	switch {
	case value.Kind == chains.TypedBytes && len(value.Bytes) > 0 && !s.read[value.path]:
		problem = fmt.Sprintf("argument %s is bytes whose meaning is not known", value.path)
	case !whole && !s.read[value.path]:
		problem = fmt.Sprintf("argument %s is too long", value.path)
	}
	return append(args, chains.Arg{Name: value.path, Value: text}), problem
}

func (s *session) fields(list []field, scope located) (shown []chains.Field, err error) {
	for i := range list {
		if list[i].Visible == "never" || list[i].Visible == false {
			continue // the list of all arguments has it
		}
		more, err := s.field(&list[i], scope)
		if err != nil {
			return nil, fmt.Errorf("field %.64q: %w", list[i].Path, err)
		}
		if shown = append(shown, more...); len(shown) > maxArgs {
			return nil, fmt.Errorf("more than %d values to show", maxArgs)
		}
	}
	return shown, nil
}

func (s *session) field(f *field, scope located) (shown []chains.Field, err error) {
	var values []located
	if f.Path == "" && f.Value != nil {
		values = []located{s.constant(f.Value)}
	} else if values, err = s.at(f.Path, scope); err != nil {
		return nil, err
	}
	if len(f.Fields) > 0 {
		for _, value := range spread(values) {
			inner, err := s.fields(f.Fields, value)
			if err != nil {
				return nil, err
			}
			shown = append(shown, inner...)
		}
		return shown, nil
	}
	values = spread(values)
	var texts []string
	for i, value := range values {
		item, err := s.show(f, value, position{scope, i, len(values)})
		if err != nil {
			return nil, err
		}
		shown, texts = append(shown, item), append(texts, textOf(f, item))
	}
	s.shown[f.Path] = strings.Join(texts, ", ")
	return shown, nil
}

var placeholder = plaintext.NewPattern(`\{[^{}]*\}`)

// interpolate inserts shown values into the interpolated intent. If one is missing, it
// returns the plain intent.
func (s *session) interpolate(f *format) string {
	if f.interpolated == "" {
		return f.intent
	}
	missing := false
	text := placeholder.Regexp().ReplaceAllStringFunc(f.interpolated, func(name string) string {
		value, ok := s.shown[strings.Trim(name, "{}")]
		missing = missing || !ok
		return value
	})
	if missing || len(text) > maxText {
		return f.intent
	}
	return text
}

func (d *descriptor) read(folder *Folder, call chains.Call, depth int) (chains.Reading, bool) {
	if call.Typed != nil {
		return d.readTyped(folder, call, depth)
	}
	if len(call.Data) < 4 {
		return chains.Reading{}, false
	}
	f := d.formats[[4]byte(call.Data)]
	switch {
	case f == nil:
		return chains.Reading{}, false
	case d.external != "":
		problem := "the descriptor depends on " + d.external + ", which cannot be checked offline"
		return chains.Reading{Problem: problem}, true
	case f.twice:
		return chains.Reading{Problem: "two keys of the descriptor have the selector of " + f.function.Signature}, true
	}
	return d.readBy(folder, f, call, depth), true
}

// readTyped reads typed data whose type has a format. Its domain must be that of the descriptor.
func (d *descriptor) readTyped(folder *Folder, call chains.Call, depth int) (chains.Reading, bool) {
	f := d.typed[call.Typed.Type]
	reading := chains.Reading{Owner: d.owner, Function: call.Typed.Type}
	switch {
	case f == nil:
		return chains.Reading{}, false
	case d.external != "":
		reading.Problem = "the descriptor depends on " + d.external + ", which is not checked"
	case d.domain.Name != "" && d.domain.Name != call.Typed.DomainName:
		reading.Problem = fmt.Sprintf("the descriptor is for the domain %.64q", d.domain.Name)
	case d.domain.Version != "" && d.domain.Version != call.Typed.DomainVersion:
		reading.Problem = fmt.Sprintf("the descriptor is for version %.64q of the domain", d.domain.Version)
	}
	if reading.Problem != "" {
		return reading, true
	}
	reading.Intent = f.intent
	return d.readArguments(folder, f, call, depth, call.Typed.Members, reading), true
}

func (f *Folder) Read(call chains.Call) (chains.Reading, bool) {
	if call.Text != "" {
		return f.readText(call.Text)
	}
	reading, ok := f.readAt(call, 0)
	if call.Typed == nil && call.Value != nil && call.Value.Sign() > 0 && evm.PlainData(call.Data) &&
		!reading.Complete {
		described := f.byTarget[target{call.Chain, string(call.To.Address())}]
		for _, file := range f.files {
			if d, _ := file.source.(*descriptor); d != nil &&
				(d.formats[[4]byte(call.Data)] != nil || slices.Contains(described, file)) {
				reading.Source, reading.Blind, ok = file.Name, "ethereum/"+evm.BlindCall, true
				reading.Problem = cmp.Or(reading.Problem,
					"the data may be a call: the file describes the contract, or a function with its first four bytes")
			}
		}
	}
	return reading, ok
}

func (f *Folder) readAt(call chains.Call, depth int) (reading chains.Reading, ok bool) {
	var untrusted *File
	readings := 0
	for _, file := range f.byTarget[target{call.Chain, string(call.To.Address())}] {
		if file.typed != (call.Typed != nil) {
			continue
		}
		if file.Problem != "" {
			untrusted = file
			continue
		}
		read, known := file.source.read(f, call, depth)
		if !known {
			continue
		}
		file.keepBlind(call, &read)
		read.Source, read.Digest, read.Trust = file.Name, hex.EncodeToString(file.Digest[:]), file.Trust
		if readings++; readings > 1 {
			return chains.Reading{Source: reading.Source + ", " + file.Name,
				Problem: "two trusted files describe this function: unpin one"}, true
		}
		reading = read
	}
	switch {
	case readings == 1:
		return reading, true
	case untrusted == nil:
		return chains.Reading{}, false
	}
	return chains.Reading{Source: untrusted.Name, Problem: untrusted.Problem}, true
}
