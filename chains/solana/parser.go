package solana

import "github.com/countersign-dev/countersign/chains"

// parser reads the raw bytes of a transaction strictly, and fills in where its parts are.
type parser struct {
	cursor
	*message
}

// qualify qualifies the field of an error with the item of a list that was being read.
func (p *parser) qualify(list string, index int) {
	if p.err != nil {
		p.err = within(p.err, list, index)
	}
}

func (p *parser) refuseVersion(offset int, prefix byte) {
	err := malformed("version", offset, "transaction version %d is not supported: use legacy, 0 or 1",
		prefix&^prefixBit)
	err.Kind = chains.ErrUnsupported
	p.fail(err)
}

func (p *parser) readHeader() {
	p.header = header{
		required:         int(p.uint8("header.num_required_signatures")),
		readonlySigned:   int(p.uint8("header.num_readonly_signed_accounts")),
		readonlyUnsigned: int(p.uint8("header.num_readonly_unsigned_accounts")),
	}
}

// checkHeader checks the header against the number of the message's own keys.
func (p *parser) checkHeader() {
	offset, h := p.headerAt(), p.header
	switch {
	case h.required == 0:
		p.refuse("header.num_required_signatures", offset, "no signers: the first key pays the fee and signs")
	case h.readonlySigned >= h.required:
		p.refuse("header.num_readonly_signed_accounts", offset+1,
			"all %d signers are read-only: the first pays the fee and must be writable", h.required)
	case h.required > p.keys:
		p.refuse("header.num_required_signatures", offset, "%d signers, and %d account keys", h.required, p.keys)
	case h.required+h.readonlyUnsigned > p.keys:
		p.refuse("header.num_readonly_unsigned_accounts", offset+2,
			"%d signers and %d read-only accounts, and %d account keys", h.required, h.readonlyUnsigned, p.keys)
	}
}
