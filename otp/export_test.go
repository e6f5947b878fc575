package otp

// CodeOf lets tests see the code of an issue.
func CodeOf(issue *Issue) string { return issue.set.variables[variableCode] }
