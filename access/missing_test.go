package access_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/access"
)

// mostSeated returns how many places of a rule's groups different voters can fill, by trying
// all ways.
func mostSeated(groups []access.Group, left []int, voters []access.Vote, submitter string, now time.Time) int {
	if len(voters) == 0 {
		return 0
	}
	most := mostSeated(groups, left, voters[1:], submitter, now) // without the first
	for i := range groups {
		if left[i] > 0 && access.Admits(&groups[i], voters[0], submitter, now) {
			left[i]--
			most = max(most, 1+mostSeated(groups, left, voters[1:], submitter, now))
			left[i]++
		}
	}
	return most
}

// TestMissing compares the matching of voters and places with all ways to seat them, for groups
// of one and of several rules.
func TestMissing(t *testing.T) {
	random, now := rand.New(rand.NewPCG(5, 6)), time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	tags, filled, moved := []string{"", "a", "b", "c"}, 0, 0
	for range 20_000 {
		var groups []access.Group
		for range 1 + random.IntN(4) {
			groups = append(groups, access.Group{Rule: fmt.Sprint("r", random.IntN(2)), Count: 1 + random.IntN(3), Tag: tags[random.IntN(4)], NotSubmitter: random.IntN(2) == 0})
		}
		var votes []access.Vote
		for i := range random.IntN(6) {
			user := access.User{ID: fmt.Sprint(i)}
			for _, tag := range tags[1:] {
				if random.IntN(2) == 0 {
					user.Tags = append(user.Tags, tag)
				}
			}
			votes = append(votes, access.Vote{User: user, At: now})
		}
		want, got, sum := 0, 0, 0
		for _, rule := range []string{"r0", "r1"} {
			of := slices.DeleteFunc(slices.Clone(groups), func(group access.Group) bool { return group.Rule != rule })
			left := make([]int, len(of))
			for i := range of {
				left[i] = of[i].Count
				sum += of[i].Count
			}
			want += mostSeated(of, left, votes, "0", now)
		}
		missing := access.Missing(groups, append(votes, votes...), "0", now) // a second vote of a user adds nothing
		greedy := 0
		for i, count := range missing {
			if count < 0 || count > groups[i].Count {
				t.Fatalf("%d are missing of %+v", count, groups[i])
			}
			got += groups[i].Count - count
			greedy += min(groups[i].Count, countAdmitted(&groups[i], votes, now))
		}
		if got != want {
			t.Fatalf("%d places are filled, %d can be: %+v by %+v", got, want, groups, votes)
		}
		filled += boolInt(got == sum)
		moved += boolInt(greedy > got)
	}
	if filled < 500 || moved < 500 {
		t.Errorf("%d were filled, in %d one voter would have filled several places: too few to say anything", filled, moved)
	}
}

func countAdmitted(group *access.Group, votes []access.Vote, now time.Time) (count int) {
	for _, vote := range votes {
		count += boolInt(access.Admits(group, vote, "0", now))
	}
	return count
}

func boolInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
