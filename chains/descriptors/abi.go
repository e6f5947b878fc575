package descriptors

import (
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/internal/evm"
)

// abiForm is a file with a contract's ABI, as compilers print it, and the contract's
// chain and address.
type abiForm struct {
	Chain   string     `json:"chain"` // eip155:N or tron
	Address string     `json:"address"`
	Name    string     `json:"name"`
	ABI     []abiEntry `json:"abi"`
}

type abiEntry struct {
	Type            string         `json:"type"`
	Name            string         `json:"name"`
	Inputs          []abiParameter `json:"inputs"`
	Outputs         any            `json:"outputs"`
	StateMutability string         `json:"stateMutability"`
	Anonymous       any            `json:"anonymous"`
	Constant        any            `json:"constant"`
	Payable         any            `json:"payable"`
	Gas             any            `json:"gas"`
}

type abiParameter struct {
	Name         string         `json:"name"`
	Type         string         `json:"type"`
	InternalType any            `json:"internalType"`
	Indexed      any            `json:"indexed"`
	Components   []abiParameter `json:"components"`
}

// newABI reads a contract's ABI as a descriptor whose formats only name the arguments.
func newABI(root object) (source, []target, error) {
	var form abiForm
	if err := into(root, &form); err != nil {
		return nil, nil, fmt.Errorf("%w: the members are chain, address, name and abi", err)
	}
	contract, err := form.target()
	if err != nil {
		return nil, nil, err
	}
	d := &descriptor{owner: form.Name, root: root, formats: map[[4]byte]*format{}}
	for i := range form.ABI {
		entry := &form.ABI[i]
		if entry.Type != "function" {
			continue
		}
		function, err := evm.ParseFunction(entry.Name + fragments(entry.Inputs, 0))
		if err != nil {
			return nil, nil, fmt.Errorf("abi[%d]: %w", i, err)
		}
		if len(d.formats) >= maxFormats {
			return nil, nil, fmt.Errorf("abi: more than %d functions", maxFormats)
		}
		d.formats[function.Selector] = &format{function: function, twice: d.formats[function.Selector] != nil}
	}
	return d, []target{contract}, nil
}

// fragments returns parameters in the form of a human-readable ABI. A name that is not an
// identifier, which some compilers allow, is left out: the argument is numbered then.
func fragments(parameters []abiParameter, depth int) string {
	parts := make([]string, len(parameters))
	for i, p := range parameters {
		if tuple, ok := strings.CutPrefix(p.Type, "tuple"); ok && depth < 16 {
			p.Type = fragments(p.Components, depth+1) + tuple
		}
		if strings.ContainsAny(p.Name, "(),[] ") || p.Name != "" && p.Name[0] >= '0' && p.Name[0] <= '9' {
			p.Name = ""
		}
		parts[i] = p.Type + " " + p.Name
	}
	return "(" + strings.Join(parts, ",") + ")"
}

func (f *abiForm) target() (target, error) {
	if f.Chain == tronChain {
		payload, version, err := base58.CheckDecode(f.Address)
		if len(f.Address) > 64 || err != nil || version != tronPrefix || len(payload) != 20 {
			return target{}, fmt.Errorf("address %.64q: must be a Tron address", f.Address)
		}
		return target{tronChain, string(append([]byte{tronPrefix}, payload...))}, nil
	}
	var id uint64
	if _, err := fmt.Sscanf(f.Chain, "eip155:%d", &id); err != nil || fmt.Sprintf("eip155:%d", id) != f.Chain {
		return target{}, fmt.Errorf("chain %.32q: must be eip155:N or tron", f.Chain)
	}
	return evmTarget(id, f.Address)
}
