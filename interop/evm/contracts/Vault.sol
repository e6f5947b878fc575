// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// OpenZeppelin's vault.
contract Vault is ERC4626 {
    constructor(IERC20 asset) ERC4626(asset) ERC20("Vault", "VLT") {}
}
