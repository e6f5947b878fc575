package wallet

// DescriptorChecksum is tested from outside the package.
var DescriptorChecksum = descriptorChecksum
