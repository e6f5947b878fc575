# vault policy write countersign vault-policy.hcl
# Signs with one key, and reads its public key. The default policy of Vault allows a token to
# look itself up and to renew itself.
path "transit/sign/NAME" {
  capabilities = ["update"]
}

path "transit/keys/NAME" {
  capabilities = ["read"]
}
