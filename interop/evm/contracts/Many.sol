// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "@openzeppelin/contracts/access/AccessControl.sol";
import "@openzeppelin/contracts/utils/Multicall.sol";

/// OpenZeppelin's multicall, and those of Uniswap's routers, written from their interfaces.
contract Many is AccessControl, Multicall {
    constructor(address owner) {
        _grantRole(DEFAULT_ADMIN_ROLE, owner);
    }

    function multicall(uint256 deadline, bytes[] calldata data) external payable returns (bytes[] memory) {
        require(block.timestamp <= deadline);
        return this_(data);
    }

    function multicall(bytes32 previous, bytes[] calldata data) external payable returns (bytes[] memory) {
        require(blockhash(block.number - 1) == previous);
        return this_(data);
    }

    function this_(bytes[] calldata data) internal returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            results[i] = Address.functionDelegateCall(address(this), data[i]);
        }
    }
}
