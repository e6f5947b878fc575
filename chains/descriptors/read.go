package descriptors

import (
	"cmp"
	"encoding/hex"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// Read implements chains.Reader.
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
