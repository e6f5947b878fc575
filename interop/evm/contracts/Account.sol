// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import "openzeppelin-5/account/extensions/draft-AccountERC7579.sol";

/// OpenZeppelin's ERC-7579 account, called by its owner instead of an EntryPoint.
contract Modular is AccountERC7579 {
    address immutable owner;

    constructor(address first) {
        owner = first;
    }

    function _checkEntryPointOrSelf() internal view override {
        require(msg.sender == owner || msg.sender == address(this));
    }

    function _checkModule(uint256, address, bytes calldata) internal view override {
        require(msg.sender == owner);
    }

    function _rawSignatureValidation(bytes32, bytes calldata) internal pure override returns (bool) {
        return false;
    }
}

/// Returns 1 from every function, so that it can be a module and a guard.
contract Yes {
    fallback(bytes calldata) external payable returns (bytes memory) {
        return abi.encode(uint256(1));
    }
}
