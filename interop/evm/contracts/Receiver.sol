// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Accepts value, tokens and approvals, and does nothing.
contract Receiver {
    receive() external payable {}

    function onTransferReceived(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onTransferReceived.selector;
    }

    function onApprovalReceived(address, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onApprovalReceived.selector;
    }
}
