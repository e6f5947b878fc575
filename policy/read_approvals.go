package policy

import (
	"slices"
	"time"

	"github.com/countersign-dev/countersign"
)

func (c *compiler) readApprovals(n node, rule string, within time.Duration) []countersign.Approval {
	var groups []countersign.Approval
	for _, item := range n.items("approvals") {
		group := countersign.Approval{Rule: rule, Within: within}
		item.fields("an approval", map[string]func(node){
			"count": func(n node) { group.Count = n.integer("count", 1, maxApprovers) },
			"tag":   func(n node) { group.Tag = c.tag(n) },
			"users": func(n node) { group.Users = c.users(n) },
			"not": func(n node) {
				if group.NotSubmitter = n.text("not") == "submitter"; !group.NotSubmitter {
					n.fail("not: only submitter is supported")
				}
			},
			"with": func(n node) {
				if group.Passkey = n.text("with") == "passkey"; !group.Passkey {
					n.fail("with: only passkey is supported")
				}
			},
		})
		switch {
		case group.Count == 0:
			item.fail("an approval needs a count")
		case group.Tag == "" && len(group.Users) > 0 && len(group.Users) < group.Count:
			item.fail("%d approvals of %d users can never be reached", group.Count, len(group.Users))
		}
		c.checkReachable(item, &group)
		groups = append(groups, group)
	}
	return groups
}

// checkReachable refuses a group that has too few eligible users.
func (c *compiler) checkReachable(n node, group *countersign.Approval) {
	if c.options.Names == nil || group.Tag == "" && len(group.Users) == 0 {
		return
	}
	eligible := 0
	for _, user := range c.options.Names.Users {
		if slices.Contains(group.Users, user.ID) || group.Tag != "" && slices.Contains(user.Tags, group.Tag) {
			eligible++
		}
	}
	if eligible < group.Count {
		n.fail("%d approvals are needed, but only %d of the users can give one", group.Count, eligible)
	}
}
