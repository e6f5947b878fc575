package setup

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
)

// user is whom a credential is for.
type user struct {
	name, organization, config string
	tags                       []string
	votes                      bool // the credential may vote, and nothing else
	known                      bool // the configuration has the user already
}

func (u *user) register(cmd *cobra.Command, votes string) {
	flags := cmd.Flags()
	flags.StringVar(&u.name, "name", "", "`NAME` of the user")
	flags.StringVar(&u.organization, "org", "", "`ID` of the organization, if --config does not name the only one")
	flags.StringVar(&u.config, "config", "", "`FILE` with the organization, and perhaps the user: countersign.yaml")
	flags.StringSliceVar(&u.tags, "tag", nil, "`TAG` of the user, for policies (repeatable)")
	flags.BoolVar(&u.votes, "votes", false, votes)
	console.Require(cmd, "name", "the name of the user")
}

// check refuses names that serve would refuse in its configuration. If there is one, the
// organization is taken from it, and it is checked whether that has the user: the reload would
// refuse a second entry of the same name.
func (u *user) check() error {
	err := keystore.CheckName("--name", u.name)
	for _, tag := range u.tags {
		err = errors.Join(err, keystore.CheckName("--tag", tag))
	}
	if err != nil {
		return console.Usagef("%v", err)
	}
	if u.config == "" {
		return nil
	}
	_, organization, err := deployment.ReadConfig(u.config, u.organization)
	if err != nil {
		return err
	}
	u.organization = organization.ID
	u.known = slices.ContainsFunc(organization.Users, func(user access.UserConfig) bool { return user.Name == u.name })
	if u.known && len(u.tags) > 0 {
		return console.Usagef("--tag: user %q is in %s already: add the tags there", u.name, u.config)
	}
	return nil
}

// activities is the member of a credential that says what it may do, if that is to vote only.
func (u *user) activities() string {
	if !u.votes {
		return ""
	}
	return fmt.Sprintf(", activities: [%s, %s]", activity.TypeApproveActivity, activity.TypeRejectActivity)
}

// print prints the lines for the configuration that add a credential to a list of the user's.
func (u *user) print(cmd *cobra.Command, list, credential string) error {
	lines := fmt.Sprintf("          - {%s}\n", credential)
	if u.known {
		fmt.Fprintf(cmd.ErrOrStderr(), "User %q is in %s: add this line under the user's %s.\n", u.name, u.config, list)
	} else {
		tags := ""
		if len(u.tags) > 0 {
			tags = "        tags: " + string(console.JSONLine(u.tags)) + "\n"
		}
		lines = fmt.Sprintf("      - name: %s\n%s        %s:\n%s", console.JSONLine(u.name), tags, list, lines)
	}
	_, err := cmd.OutOrStdout().Write([]byte(lines))
	return err
}
