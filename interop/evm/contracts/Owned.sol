// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "@openzeppelin/contracts/access/AccessControl.sol";
import "@openzeppelin/contracts/access/Ownable2Step.sol";
import "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";

/// OpenZeppelin's base contracts: an owner, roles and upgrades.
contract Owned is Ownable, AccessControl, UUPSUpgradeable {
    constructor(address owner) {
        initialize(owner);
    }

    function initialize(address owner) public {
        _transferOwnership(owner);
        _grantRole(DEFAULT_ADMIN_ROLE, owner);
    }

    function _authorizeUpgrade(address) internal override onlyOwner {}
}

/// A contract whose new owner has yet to accept.
contract Pending is Ownable2Step {
    constructor(address next) {
        transferOwnership(next);
    }
}
