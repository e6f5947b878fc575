package tron

import (
	"bytes"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
)

const (
	maxVotes      = 30        // MAX_VOTE_NUMBER
	maxActives    = 8         // active permissions of an account
	maxFrozen     = 10        // MAX_FROZEN_SUPPLY_NUMBER
	maxParameters = 256       // of a proposal; the network has some hundred to propose
	lowestTokenID = 1_000_001 // ids of TRC-10 tokens are above MIN_TOKEN_ID

	maxPermissionName = 32 // characters of UTF-16, as java-tron counts them
)

// checkNotToOwner requires that owner and receiver differ.
func checkNotToOwner(m *message, raw []byte, v []value) error {
	from, to := m.indexOf(kindOwner), m.indexOf(kindAddress)
	if v[to].present() && bytes.Equal(v[from].of(raw), v[to].of(raw)) {
		return malformed(m.fields[to].path, v[to].from(),
			"the same account as owner_address: the network refuses a transfer to oneself")
	}
	return nil
}

func checkTwoTokens(m *message, raw []byte, v []value) error {
	first, second := v[firstToken], v[secondToken]
	if bytes.Equal(first.of(raw), second.of(raw)) {
		return malformed(m.fields[secondToken].path, second.from(), "the same token as %s", m.fields[firstToken].name)
	}
	return nil
}

// checkCreation requires that the origin of a new contract is its owner.
func checkCreation(m *message, raw []byte, v []value) error {
	if err := checkTokenValue(m, raw, v); err != nil {
		return err
	}
	created := smartContractMessage.reread(raw, v[createNewContract])
	owner, origin := v[m.indexOf(kindOwner)], created[smartOrigin]
	if !bytes.Equal(owner.of(raw), origin.of(raw)) {
		return malformed(smartContractMessage.fields[smartOrigin].path, origin.from(),
			"another account than owner_address: the network requires the same")
	}
	return nil
}

func checkVotes(m *message, raw []byte, v []value) error {
	return m.checkCount(raw, v, voteVotes, maxVotes)
}

// checkTokenValue is for the two messages that end with call_token_value and token_id.
func checkTokenValue(m *message, _ []byte, v []value) error {
	last := len(m.fields) - 1
	amount, id := v[last-1], v[last]
	switch {
	case id.present() && id.number < lowestTokenID:
		return malformed(m.fields[last].path, id.from(), "%d: ids of tokens start at %d", id.number, lowestTokenID)
	case amount.present() && !id.present():
		return malformed(m.fields[last-1].path, amount.from(), "there is no token_id that says of which token")
	}
	return nil
}

func (m *message) checkCount(raw []byte, v []value, index, most int) error {
	count := 0
	for entry := range entries(raw, v[index]) {
		if count++; count > most {
			return malformed(m.fields[index].path, entry.from(), "more than %d of them", most)
		}
	}
	return nil
}

func checkIssue(m *message, raw []byte, v []value) error {
	if err := m.checkCount(raw, v, issueFrozen, maxFrozen); err != nil {
		return err
	}
	left := v[issueSupply].number
	for entry := range entries(raw, v[issueFrozen]) {
		frozen := frozenSupplyMessage.reread(raw, entry)
		if left -= frozen[0].number; left < 0 {
			return malformed(frozenSupplyMessage.fields[0].path, frozen[0].from(),
				"more is frozen than the total supply")
		}
	}
	switch name, end := v[issueName], v[issueEnd]; {
	case strings.EqualFold(string(name.of(raw)), "trx"):
		return malformed(m.fields[issueName].path, name.from(), "the network allows no token the name %q", name.of(raw))
	case end.number <= v[issueStart].number:
		return malformed(m.fields[issueEnd].path, end.from(), "%d is not after start_time %d", end.number,
			v[issueStart].number)
	}
	return nil
}

func checkParameters(m *message, raw []byte, v []value) error {
	if err := m.checkCount(raw, v, createParameters, maxParameters); err != nil {
		return err
	}
	seen := map[int64]bool{}
	for entry := range entries(raw, v[createParameters]) {
		parameter := parameterMessage.reread(raw, entry)
		key := parameter[0]
		if seen[key.number] {
			return malformed(parameterMessage.fields[0].path, key.from(),
				"%d is there twice: of a map's equal keys the last one counts", key.number)
		}
		seen[key.number] = true
	}
	return nil
}

func checkPermission(m *message, raw []byte, v []value) error {
	if err := m.checkCount(raw, v, permissionKeys, maxSignatures); err != nil {
		return err
	}
	var sum int64
	seen := map[string]bool{}
	for entry := range entries(raw, v[permissionKeys]) {
		key := keyMessage.reread(raw, entry)
		holder, weight := key[0], key[1]
		switch {
		case seen[string(holder.of(raw))]:
			return malformed(keyMessage.fields[0].path, holder.from(),
				"this address has a key in the permission already")
		case weight.number > math.MaxInt64-sum:
			return malformed(keyMessage.fields[1].path, weight.from(), "the sum of the weights is over 63 bits")
		}
		seen[string(holder.of(raw))] = true
		sum += weight.number
	}
	if name := v[permissionName]; len(utf16.Encode([]rune(string(name.of(raw))))) > maxPermissionName {
		return malformed(m.fields[permissionName].path, name.from(), "more than %d characters", maxPermissionName)
	}
	if threshold := v[permissionThreshold]; threshold.number > sum {
		return malformed(m.fields[permissionThreshold].path, threshold.from(),
			"%d is above %d, the sum of all weights: no set of keys could sign", threshold.number, sum)
	}
	return nil
}

func checkPermissions(m *message, raw []byte, v []value) error {
	if err := m.checkCount(raw, v, updateActives, maxActives); err != nil {
		return err
	}
	for field, span := range permissions(raw, v) {
		if err := checkPermissionType(raw, span, int64(field-updateOwner)); err != nil {
			return err
		}
	}
	return nil
}

// permissions yields the permissions in the fields of an AccountPermissionUpdateContract, each with
// the field's index.
func permissions(raw []byte, v []value) iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		for field := updateOwner; field < updateActives; field++ {
			if v[field].present() && !yield(field, v[field]) {
				return
			}
		}
		for active := range entries(raw, v[updateActives]) {
			if !yield(updateActives, active) {
				return
			}
		}
	}
}

// checkPermissionType checks that a permission is where its type belongs, and that
// active permissions, and only they, have operations.
func checkPermissionType(raw []byte, span value, want int64) error {
	permission := permissionMessage.reread(raw, span)
	fields := permissionMessage.fields
	operations, keys := permission[permissionOperations], permission[permissionKeys]
	switch got := permission[permissionType]; {
	case got.number != want:
		return malformed(fields[permissionType].path, max(got.from(), span.from()), "%d stands where %d (%s) belongs",
			got.number, want, fields[permissionType].names[want])
	case want == permissionWitness && len(slices.Collect(entries(raw, keys))) != 1:
		return malformed(fields[permissionKeys].path, keys.from(), "a witness permission has one key")
	case want == permissionActive && !operations.present():
		return malformed(fields[permissionOperations].path, span.to(),
			"missing: 32 bytes that say what the permission is for")
	case want != permissionActive && operations.present():
		return malformed(fields[permissionOperations].path, operations.from(),
			"only an active permission has operations")
	}
	return nil
}
