package approvals

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/policy"
)

type haltCommand struct {
	to                    deployment.Client
	resumes               bool
	organization, answers bool
	user, key, policy     string
}

// NewHaltCommand returns the command halt.
func NewHaltCommand() *cobra.Command {
	var c haltCommand
	command := c.command("halt", "Halt signing for the organization, a user or a key", `
Once this command has been answered, no signature leaves any node, whenever it was begun:
of the organization (--org), of what a user submits or has approved (--user), or of a key
(--key). One-time passwords are neither sent nor redeemed. Requests that wait can be
rejected, but not approved. What was signed before is still answered to its submitter,
unless --answers withholds that, too.

The API key's activities have to name ACTIVITY_TYPE_HALT. 'countersign resume' ends it.`)
	command.Flags().BoolVar(&c.answers, "answers", false, "withhold what was signed before, too")
	return command
}

// NewResumeCommand returns the command resume.
func NewResumeCommand() *cobra.Command {
	c := haltCommand{resumes: true}
	command := c.command("resume", "Resume signing after a halt, or let a policy take effect", `
Ask for the end of a halt of the organization (--org), a user (--user) or a key (--key). It
ends when as many users have asked as the configuration says (resume.approvals). What has
all its votes is then signed: reject before what should not be.

With --policy, ask that a policy may take effect which allows more than the one in force:
compare them before with 'countersign policy diff'. When as many users have asked as the
configuration says (policies.widening.approvals), the next reload or start takes the file.

The API key's activities have to name ACTIVITY_TYPE_RESUME.`, "policy")
	command.Flags().StringVar(&c.policy, "policy", "", "the policy `FILE`")
	return command
}

func (c *haltCommand) command(name, short, long string, more ...string) *cobra.Command {
	command := &cobra.Command{
		Use: name, Short: short, Long: console.Paragraphs(long),
		Example: "  countersign " + name + " --org --url https://signer.example.com --api-key ann.json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.to.Register(command)
	command.Flags().BoolVar(&c.organization, "org", false, "the whole organization of the API key")
	command.Flags().StringVar(&c.user, "user", "", "the user with this `ID`")
	command.Flags().StringVar(&c.key, "key", "", "the key with this `ID`")
	console.Exclusive(command, "pass one of them", append(more, "org", "user", "key")...)
	return command
}

func (c *haltCommand) run(cmd *cobra.Command) error {
	if !c.organization && c.user+c.key+c.policy == "" {
		or := map[bool]string{true: ", or --policy FILE"}[c.resumes]
		return console.Usagef("say for whom: --org, --user ID or --key ID%s", or)
	}
	to, err := c.to.OpenRetrying(cmd.Context())
	if err != nil {
		return err
	}
	intent := activity.NewHalt(c.user, c.key, c.answers)
	if c.resumes {
		intent = activity.NewResume(c.user, c.key)
	}
	if c.policy != "" {
		file, err := policy.Load(c.policy, deployment.PolicyOptions(nil))
		if err != nil {
			return err
		}
		intent = activity.NewPolicyResume(file.Digest())
	}
	request, err := to.NewRequest(intent)
	if err != nil {
		return err
	}
	done, err := to.Submit(cmd.Context(), request)
	if err != nil {
		return deployment.WithReason(err)
	}
	if err := console.PrintLine(cmd, done.Answer); err != nil || done.Result.Halt == nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s.\n", console.CleanText(done.Result.Halt.Sentence()))
	return nil
}
